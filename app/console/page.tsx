import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, publicUrl, trpc } from "#server/trpc/caller";
import { OverviewPage } from "./overview/overview-page";
import { overviewSearch } from "./overview/ranges";
import { requireTeam, type Search } from "./team";

export const metadata: Metadata = { title: "Overview" };

const loadSearch = createLoader(overviewSearch);

/** The overview: traffic, queue and health of the team in the URL. */
export default async function ConsolePage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId: team } = await requireTeam("/console", search);
  const queries = pageQueries();
  await Promise.all([
    queries.prefetchQuery(trpc.overview.traffic.queryOptions({ team, ...loadSearch(search) })),
    queries.prefetchQuery(trpc.overview.standing.queryOptions({ team })),
    queries.prefetchQuery(trpc.overview.parts.queryOptions({ team })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <OverviewPage teamId={team} publicUrl={publicUrl()} />
    </HydrationBoundary>
  );
}
