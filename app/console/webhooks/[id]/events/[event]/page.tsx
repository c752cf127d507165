import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage } from "../../../../console-page";
import { DeliveryPage } from "./delivery-page";

export const metadata: Metadata = { title: "Event delivery" };

/** One event delivery: its requests, its responses, and the next attempt. */
export default consolePage("/console/webhooks/[id]/events/[event]", ({ team, params: { id, event } }) => ({
  objects: [
    trpc.webhooks.get.queryOptions({ team, id }),
    trpc.webhooks.delivery.queryOptions({ team, id, event }),
  ],
  page: <DeliveryPage teamId={team} id={id} event={event} />,
}));
