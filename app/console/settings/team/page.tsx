import type { Metadata } from "next";
import { trpc } from "#server/trpc/caller";
import { consolePage } from "../../console-page";
import { TeamPage } from "./team-page";

export const metadata: Metadata = { title: "Team" };

/** The team name, the unknown-outcome policy, the daily cap, the copies and the retention. */
export default consolePage("/console/settings/team", ({ team }) => ({
  queries: [trpc.team.settings.queryOptions({ team }), trpc.team.copies.queryOptions({ team, domain: null })],
  page: <TeamPage teamId={team} />,
}));
