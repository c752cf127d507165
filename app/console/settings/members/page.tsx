import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../../team";
import { MembersPage } from "./members-page";

export const metadata: Metadata = { title: "Members" };

/** The members of the team and the pending invitations. */
export default async function Members({ searchParams }: { searchParams: Promise<Search> }) {
  const { teamId: team } = await requireTeam("/console/settings/members", await searchParams);
  await Promise.all([
    pageQueries().prefetchQuery(trpc.members.list.queryOptions({ team })),
    pageQueries().prefetchQuery(trpc.invitations.list.queryOptions({ team })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <MembersPage teamId={team} />
    </HydrationBoundary>
  );
}
