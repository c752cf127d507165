import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage } from "../console-page";
import { EndpointList } from "./endpoint-list";

export const metadata: Metadata = { title: "Webhooks" };

/** The endpoints of the team, newest first. */
export default consolePage("/console/webhooks", ({ team }) => ({
  queries: [trpc.webhooks.list.queryOptions({ team }), trpc.webhooks.heldUnknown.queryOptions({ team })],
  page: <EndpointList teamId={team} />,
}));
