import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import { TRPCError } from "@trpc/server";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../../../../team";
import { DeliveryPage } from "./delivery-page";

export const metadata: Metadata = { title: "Event delivery" };

type Props = { params: Promise<{ id: string; event: string }>; searchParams: Promise<Search> };

/** One event delivery: its requests, its responses, and the next attempt. */
export default async function Page({ params, searchParams }: Props) {
  const { id, event } = await params;
  const path = `/console/webhooks/${encodeURIComponent(id)}/events/${encodeURIComponent(event)}`;
  const { teamId } = await requireTeam(path, await searchParams);
  const queries = pageQueries();
  await Promise.all([
    queries.fetchQuery(trpc.webhooks.get.queryOptions({ team: teamId, id })).catch(showMissing),
    queries.fetchQuery(trpc.webhooks.delivery.queryOptions({ team: teamId, id, event })).catch(showMissing),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <DeliveryPage teamId={teamId} id={id} event={event} />
    </HydrationBoundary>
  );
}

// The browser retries after any other failure, and shows it with its request id.
function showMissing(error: unknown): void {
  if (error instanceof TRPCError && error.code === "NOT_FOUND") notFound();
}
