import type { Metadata } from "next";
import { cookies } from "next/headers";
import { trpc } from "#server/trpc/caller";
import { parsePanel } from "#server/trpc/domains/views";
import { consolePage } from "../../console-page";
import { PANEL_COOKIE } from "../panel";
import { DomainPage } from "./domain-page";

export const metadata: Metadata = { title: "Domain" };

/** One domain: its DNS records, their check results, and its settings. */
export default consolePage("/console/domains/[id]", async ({ team, params: { id } }) => {
  const panel = parsePanel((await cookies()).get(PANEL_COOKIE)?.value);
  return {
    objects: [trpc.domains.get.queryOptions({ team, id, panel, isOwnZone: false })],
    page: <DomainPage teamId={team} id={id} initialPanel={panel} />,
  };
});
