import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, publicUrl, trpc } from "#server/trpc/caller";
import { requireTeam, rethrowNotFound, type Search } from "../../team";
import { KeyPage } from "./key-page";

export const metadata: Metadata = { title: "API key" };

type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

/** One key: its permissions, the usage of its rate limits, and its rejected requests. */
export default async function Page({ params, searchParams }: Props) {
  const { id } = await params;
  const { teamId } = await requireTeam(`/console/keys/${encodeURIComponent(id)}`, await searchParams);
  const queries = pageQueries();
  await Promise.all([
    queries.fetchQuery(trpc.keys.get.queryOptions({ team: teamId, id })).catch(rethrowNotFound),
    queries.prefetchQuery(trpc.keys.gauges.queryOptions({ team: teamId, id })),
    queries.prefetchQuery(trpc.keys.rejections.queryOptions({ team: teamId, id })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <KeyPage teamId={teamId} id={id} publicUrl={publicUrl()} />
    </HydrationBoundary>
  );
}
