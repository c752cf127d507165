import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import { TRPCError } from "@trpc/server";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../../../../team";
import { DeliveryPage } from "./delivery-page";

export const metadata: Metadata = { title: "Webhook event" };

type Props = { params: Promise<{ id: string; event: string }>; searchParams: Promise<Search> };

/** One event of an endpoint: what was sent, what was answered, and what comes next. */
export default async function Page({ params, searchParams }: Props) {
  const { id, event } = await params;
  const path = `/console/webhooks/${encodeURIComponent(id)}/events/${encodeURIComponent(event)}`;
  const { teamId } = await requireTeam(path, await searchParams);
  const queries = pageQueries();
  await Promise.all([
    queries.fetchQuery(trpc.webhooks.get.queryOptions({ team: teamId, id })).catch(passMissing),
    queries.fetchQuery(trpc.webhooks.delivery.queryOptions({ team: teamId, id, event })).catch(passMissing),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <DeliveryPage teamId={teamId} id={id} event={event} />
    </HydrationBoundary>
  );
}

// Any other failure is the browser's to show, which asks again and has the request id.
function passMissing(error: unknown): void {
  if (error instanceof TRPCError && error.code === "NOT_FOUND") notFound();
}
