import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, publicUrl, trpc } from "#server/trpc/caller";
import { activeFilters } from "../_ui/list/list-filters";
import { requireTeam, type Search } from "../team";
import { keyFilters } from "./filters";
import { KeyList } from "./key-list";

export const metadata: Metadata = { title: "API keys" };

const loadFilters = createLoader(keyFilters);

/** The API keys of the team, newest first. */
export default async function KeysPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId } = await requireTeam("/console/keys", search);
  await pageQueries().prefetchQuery(
    trpc.keys.list.queryOptions({ team: teamId, ...activeFilters(loadFilters(search)) }),
  );
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <KeyList teamId={teamId} publicUrl={publicUrl()} />
    </HydrationBoundary>
  );
}
