import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, trpc } from "#server/trpc/caller";
import { activeFilters } from "../../_ui/list/list-filters";
import { requireTeam, rethrowNotFound, type Search } from "../../team";
import { deliveryFilters } from "./delivery-filters";
import { EndpointPage } from "./endpoint-page";

export const metadata: Metadata = { title: "Webhook" };

type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

const loadFilters = createLoader(deliveryFilters);

/** One endpoint: its state, its event deliveries, and its actions. */
export default async function Page({ params, searchParams }: Props) {
  const { id } = await params;
  const search = await searchParams;
  const { teamId } = await requireTeam(`/console/webhooks/${encodeURIComponent(id)}`, search);
  const queries = pageQueries();
  await Promise.all([
    queries.fetchQuery(trpc.webhooks.get.queryOptions({ team: teamId, id })).catch(rethrowNotFound),
    queries.prefetchQuery(trpc.webhooks.snippets.queryOptions({ team: teamId })),
    queries.prefetchQuery(
      trpc.webhooks.deliveries.queryOptions({ team: teamId, id, ...activeFilters(loadFilters(search)) }),
    ),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <EndpointPage teamId={teamId} id={id} />
    </HydrationBoundary>
  );
}
