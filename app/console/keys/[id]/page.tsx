import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import { TRPCError } from "@trpc/server";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { pageQueries, publicUrl, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../../team";
import { KeyPage } from "./key-page";

export const metadata: Metadata = { title: "API key" };

type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

/** One key: what it may do, how much of its limits is used, and why calls of it were refused. */
export default async function Page({ params, searchParams }: Props) {
  const { id } = await params;
  const { teamId } = await requireTeam(`/console/keys/${encodeURIComponent(id)}`, await searchParams);
  const queries = pageQueries();
  await Promise.all([
    queries.fetchQuery(trpc.keys.get.queryOptions({ team: teamId, id })).catch(passMissing),
    queries.prefetchQuery(trpc.keys.gauges.queryOptions({ team: teamId, id })),
    queries.prefetchQuery(trpc.keys.refusals.queryOptions({ team: teamId, id })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <KeyPage teamId={teamId} id={id} publicUrl={publicUrl()} />
    </HydrationBoundary>
  );
}

// Any other failure is the browser's to show, which asks again and has the request id.
function passMissing(error: unknown): void {
  if (error instanceof TRPCError && error.code === "NOT_FOUND") notFound();
}
