import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../team";
import { EndpointList } from "./endpoint-list";

export const metadata: Metadata = { title: "Webhooks" };

/** The endpoints of the team, newest first. */
export default async function WebhooksPage({ searchParams }: { searchParams: Promise<Search> }) {
  const { teamId } = await requireTeam("/console/webhooks", await searchParams);
  const queries = pageQueries();
  await Promise.all([
    queries.prefetchQuery(trpc.webhooks.list.queryOptions({ team: teamId })),
    queries.prefetchQuery(trpc.webhooks.heldUnknown.queryOptions({ team: teamId })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <EndpointList teamId={teamId} />
    </HydrationBoundary>
  );
}
