import type { Metadata } from "next";
import { publicUrl, trpc } from "#server/trpc/caller";
import { consolePage } from "../../console-page";
import { KeyPage } from "./key-page";

export const metadata: Metadata = { title: "API key" };

/** One key: its permissions, the usage of its rate limits, and its rejected requests. */
export default consolePage("/console/keys/[id]", ({ team, params: { id } }) => ({
  objects: [trpc.keys.get.queryOptions({ team, id })],
  queries: [trpc.keys.gauges.queryOptions({ team, id }), trpc.keys.rejections.queryOptions({ team, id })],
  page: <KeyPage teamId={team} id={id} publicUrl={publicUrl()} />,
}));
