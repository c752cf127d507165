import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { createLoader } from "nuqs/server";
import { pageQueries, publicUrl, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../team";
import { EmailList } from "./email-list";
import { emailFilters, listInput } from "./filters";

export const metadata: Metadata = { title: "Emails" };

const loadFilters = createLoader(emailFilters);

/** The team's mails, newest first. */
export default async function EmailsPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  const { teamId } = await requireTeam("/console/emails", search);
  await pageQueries().prefetchQuery(trpc.emails.list.queryOptions(listInput(teamId, loadFilters(search))));
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <EmailList teamId={teamId} publicUrl={publicUrl()} />
    </HydrationBoundary>
  );
}
