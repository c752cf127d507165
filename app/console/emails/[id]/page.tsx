import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, rethrowNotFound, type Search } from "../../team";
import { EmailPage } from "./email-page";

export const metadata: Metadata = { title: "Email" };

type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

/** One email: its content, the status of each recipient, and its events with their reasons. */
export default async function Page({ params, searchParams }: Props) {
  const { id } = await params;
  const { teamId } = await requireTeam(`/console/emails/${encodeURIComponent(id)}`, await searchParams);
  const queries = pageQueries();
  await Promise.all([
    queries.fetchQuery(trpc.emails.get.queryOptions({ team: teamId, id })).catch(rethrowNotFound),
    queries.prefetchQuery(trpc.emails.content.queryOptions({ team: teamId, id })),
    queries.prefetchQuery(trpc.emails.told.queryOptions({ team: teamId, id })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <EmailPage teamId={teamId} id={id} />
    </HydrationBoundary>
  );
}
