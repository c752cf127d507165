import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, trpc } from "#server/trpc/caller";
import { activeFilters } from "../../_ui/list/list-filters";
import { requireTeam, type Search } from "../../team";
import { requestFilters } from "../filters";
import { RequestList } from "./request-list";

export const metadata: Metadata = { title: "API requests" };

const loadFilters = createLoader(requestFilters);

/** The API requests of the last seven days, newest first. */
export default async function RequestsPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId: team } = await requireTeam("/console/activity/requests", search);
  await Promise.all([
    pageQueries().prefetchQuery(
      trpc.activity.requests.queryOptions({ team, ...activeFilters(loadFilters(search)) }),
    ),
    pageQueries().prefetchQuery(trpc.activity.keys.queryOptions({ team })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <RequestList teamId={team} />
    </HydrationBoundary>
  );
}
