import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, trpc } from "#server/trpc/caller";
import { activeFilters } from "../_ui/list/list-filters";
import { requireTeam, type Search } from "../team";
import { DomainList } from "./domain-list";
import { domainFilters } from "./filters";

export const metadata: Metadata = { title: "Domains" };

const loadFilters = createLoader(domainFilters);

/** The domains of the team, newest first. */
export default async function DomainsPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId } = await requireTeam("/console/domains", search);
  await pageQueries().prefetchQuery(
    trpc.domains.list.queryOptions({ team: teamId, ...activeFilters(loadFilters(search)) }),
  );
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <DomainList teamId={teamId} />
    </HydrationBoundary>
  );
}
