import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, rethrowNotFound, type Search } from "../../../team";
import { versionFilters, versionsInput } from "./filters";
import { Versions } from "./versions";

export const metadata: Metadata = { title: "Versions" };

const loadFilters = createLoader(versionFilters);

type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

/** The versions of a template and the differences between any two of them. */
export default async function Page({ params, searchParams }: Props) {
  const { id } = await params;
  const search = await searchParams;
  const { teamId } = await requireTeam(`/console/templates/${encodeURIComponent(id)}/versions`, search);
  const queries = pageQueries();
  await Promise.all([
    queries.fetchQuery(trpc.templates.get.queryOptions({ team: teamId, id })).catch(rethrowNotFound),
    queries.prefetchQuery(
      trpc.templates.versions.queryOptions(versionsInput(teamId, id, loadFilters(search))),
    ),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <Versions teamId={teamId} id={id} />
    </HydrationBoundary>
  );
}
