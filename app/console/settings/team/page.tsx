import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../../team";
import { TeamPage } from "./team-page";

export const metadata: Metadata = { title: "Team" };

/** The team name, the unknown-outcome policy, the daily cap and the retention. */
export default async function Team({ searchParams }: { searchParams: Promise<Search> }) {
  const { teamId } = await requireTeam("/console/settings/team", await searchParams);
  await pageQueries().prefetchQuery(trpc.team.settings.queryOptions({ team: teamId }));
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <TeamPage teamId={teamId} />
    </HydrationBoundary>
  );
}
