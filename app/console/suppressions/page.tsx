import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, trpc } from "#server/trpc/caller";
import { activeFilters } from "../_ui/list/list-filters";
import { requireTeam, type Search } from "../team";
import { suppressionFilters } from "./filters";
import { SuppressionList } from "./suppression-list";

export const metadata: Metadata = { title: "Suppressions" };

const loadFilters = createLoader(suppressionFilters);

/** The suppression list of the team, newest first. */
export default async function SuppressionsPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId } = await requireTeam("/console/suppressions", search);
  await pageQueries().prefetchQuery(
    trpc.suppressions.list.queryOptions({ team: teamId, ...activeFilters(loadFilters(search)) }),
  );
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <SuppressionList teamId={teamId} />
    </HydrationBoundary>
  );
}
