import { publicUrl, trpc } from "#server/trpc/caller";
import { consolePage, objectTitle } from "../../console-page";
import { KeyPage } from "./key-page";

export const generateMetadata = objectTitle(
  "API key",
  (of) => trpc.keys.get.queryOptions(of),
  ({ name }: { name: string }) => name,
);

/** One key: its permissions, the usage of its rate limits, and its rejected requests. */
export default consolePage("/console/keys/[id]", ({ team, params: { id } }) => ({
  objects: [trpc.keys.get.queryOptions({ team, id })],
  queries: [trpc.keys.gauges.queryOptions({ team, id }), trpc.keys.rejections.queryOptions({ team, id })],
  page: <KeyPage teamId={team} id={id} publicUrl={publicUrl()} />,
}));
