import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { publicUrl, trpc } from "#server/trpc/caller";
import { consolePage } from "../console-page";
import { OverviewPage } from "../overview/overview-page";
import { overviewSearch, trafficInput } from "../overview/ranges";

export const metadata: Metadata = { title: "Overview" };

const loadSearch = createLoader(overviewSearch);

/** The overview: traffic, queue and health of the team in the URL. */
export default consolePage("/console", ({ team, search }) => ({
  queries: [
    trpc.overview.traffic.queryOptions(trafficInput(team, loadSearch(search))),
    trpc.overview.standing.queryOptions({ team }),
    trpc.overview.parts.queryOptions({ team }),
    trpc.alerts.ofTeam.queryOptions({ team }),
  ],
  page: <OverviewPage teamId={team} publicUrl={publicUrl()} />,
}));
