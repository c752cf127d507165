import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, publicUrl, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../team";
import { EmailList } from "./email-list";
import { emailFilters, listInput } from "./filters";

export const metadata: Metadata = { title: "Emails" };

const loadFilters = createLoader(emailFilters);

/** The team's emails, newest first. */
export default async function EmailsPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId } = await requireTeam("/console/emails", search);
  const queries = pageQueries();
  await Promise.all([
    queries.prefetchQuery(trpc.emails.list.queryOptions(listInput(teamId, loadFilters(search)))),
    queries.prefetchQuery(trpc.emails.choices.queryOptions({ team: teamId })),
  ]);
  return (
    <HydrationBoundary state={dehydrate(queries)}>
      <EmailList teamId={teamId} publicUrl={publicUrl()} />
    </HydrationBoundary>
  );
}
