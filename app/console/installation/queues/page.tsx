import { trpc } from "#server/trpc/caller";
import { operatorPage, operatorTitle } from "../operator-page";
import { QueuesPage } from "./queues-page";

export const generateMetadata = operatorTitle("Queues");

/** How much email waits, and the pauses. */
export default operatorPage("/console/installation/queues", () => ({
  queries: [trpc.queues.status.queryOptions()],
  page: <QueuesPage />,
}));
