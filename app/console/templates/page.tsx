import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, trpc } from "#server/trpc/caller";
import { activeFilters } from "../_ui/list/list-filters";
import { requireTeam, type Search } from "../team";
import { templateFilters } from "./filters";
import { TemplateList } from "./template-list";

export const metadata: Metadata = { title: "Templates" };

const loadFilters = createLoader(templateFilters);

/** The team's templates, newest first. */
export default async function TemplatesPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId } = await requireTeam("/console/templates", search);
  await pageQueries().prefetchQuery(
    trpc.templates.list.queryOptions({ team: teamId, ...activeFilters(loadFilters(search)) }),
  );
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <TemplateList teamId={teamId} />
    </HydrationBoundary>
  );
}
