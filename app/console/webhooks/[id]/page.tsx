import { trpc } from "#server/trpc/caller";
import { consolePage, objectTitle, readFilters } from "../../console-page";
import { deliveryFilters } from "./deliveries/delivery-filters";
import { EndpointPage } from "./endpoint-page";

export const generateMetadata = objectTitle(
  "Webhook",
  (of) => trpc.webhooks.get.queryOptions(of),
  ({ endpoint }: { endpoint: string }) => endpoint,
);

/** One endpoint: its state, its event deliveries, and its actions. */
export default consolePage("/console/webhooks/[id]", ({ team, params: { id }, search }) => ({
  objects: [trpc.webhooks.get.queryOptions({ team, id })],
  queries: [trpc.webhooks.deliveries.queryOptions({ team, id, ...readFilters(deliveryFilters, search) })],
  page: <EndpointPage teamId={team} id={id} />,
}));
