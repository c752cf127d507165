import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, rethrowNotFound, type Search } from "../../../../team";
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
    queries.fetchQuery(trpc.webhooks.get.queryOptions({ team: teamId, id })).catch(rethrowNotFound),
    queries
      .fetchQuery(trpc.webhooks.delivery.queryOptions({ team: teamId, id, event }))
      .catch(rethrowNotFound),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <DeliveryPage teamId={teamId} id={id} event={event} />
    </HydrationBoundary>
  );
}
