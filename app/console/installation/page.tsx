import { trpc } from "#server/trpc/caller";
import { operatorPage, operatorTitle } from "./operator-page";
import { StatusPage } from "./status-page";

export const generateMetadata = operatorTitle("Installation");

/** Readiness and workers. */
export default operatorPage("/console/installation", () => ({
  queries: [trpc.installation.status.queryOptions()],
  page: <StatusPage />,
}));
