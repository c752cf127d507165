import { trpc } from "#server/trpc/caller";
import { consolePage, objectTitle } from "../../../../console-page";
import { DeliveryPage } from "./delivery-page";

type Titled = { type: string; email: { recipient: string | null } | null };

export const generateMetadata = objectTitle(
  "Event delivery",
  ({ team, id, event }: { team: string; id: string; event: string }) =>
    trpc.webhooks.delivery.queryOptions({ team, id, event }),
  ({ type, email }: Titled) => (email?.recipient ? `${type} for ${email.recipient}` : type),
);

/** One event delivery: its requests, its responses, and the next attempt. */
export default consolePage("/console/webhooks/[id]/events/[event]", ({ team, params: { id, event } }) => ({
  objects: [
    trpc.webhooks.get.queryOptions({ team, id }),
    trpc.webhooks.delivery.queryOptions({ team, id, event }),
  ],
  page: <DeliveryPage teamId={team} id={id} event={event} />,
}));
