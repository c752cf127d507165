import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../../team";
import { SecurityPage } from "./security-page";

export const metadata: Metadata = { title: "Security" };

/** The sign-in methods, the sessions and the security events of the user. */
export default async function Security({ searchParams }: { searchParams: Promise<Search> }) {
  await requireTeam("/console/settings/security", await searchParams);
  const queries = pageQueries();
  await Promise.all([
    queries.prefetchQuery(trpc.account.signInMethods.queryOptions()),
    queries.prefetchQuery(trpc.account.sessions.queryOptions()),
    queries.prefetchQuery(trpc.account.events.queryOptions()),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <SecurityPage />
    </HydrationBoundary>
  );
}
