import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, trpc } from "#server/trpc/caller";
import { activeFilters } from "../_ui/list/list-filters";
import { requireTeam, type Search } from "../team";
import { ChangeList } from "./change-list";
import { changeFilters } from "./filters";

export const metadata: Metadata = { title: "Activity" };

const loadFilters = createLoader(changeFilters);

/** The changes in the team, newest first. */
export default async function ActivityPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId: team } = await requireTeam("/console/activity", search);
  await Promise.all([
    pageQueries().prefetchQuery(
      trpc.activity.changes.queryOptions({ team, ...activeFilters(loadFilters(search)) }),
    ),
    pageQueries().prefetchQuery(trpc.activity.actors.queryOptions({ team })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <ChangeList teamId={team} />
    </HydrationBoundary>
  );
}
