import { cookies } from "next/headers";
import { trpc } from "#server/trpc/caller";
import { parsePanel } from "#server/trpc/domains/views";
import { consolePage, objectTitle } from "../../console-page";
import { PANEL_COOKIE } from "../panel";
import { DomainPage } from "./domain-page";

const readPanel = async () => parsePanel((await cookies()).get(PANEL_COOKIE)?.value);

export const generateMetadata = objectTitle(
  "Domain",
  async (of) => trpc.domains.get.queryOptions({ ...of, panel: await readPanel(), isOwnZone: false }),
  ({ name }: { name: string }) => name,
);

/** One domain: its DNS records, their check results, and its settings. */
export default consolePage("/console/domains/[id]", async ({ team, params: { id } }) => {
  const panel = await readPanel();
  return {
    objects: [trpc.domains.get.queryOptions({ team, id, panel, isOwnZone: false })],
    page: <DomainPage teamId={team} id={id} initialPanel={panel} />,
  };
});
