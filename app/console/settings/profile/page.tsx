import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pageQueries, trpc } from "#server/trpc/caller";
import { requireTeam, type Search } from "../../team";
import { ProfilePage } from "./profile-page";

export const metadata: Metadata = { title: "Profile" };

/** The name and the sign-in address of the user. */
export default async function Profile({ searchParams }: { searchParams: Promise<Search> }) {
  await requireTeam("/console/settings/profile", await searchParams);
  await pageQueries().prefetchQuery(trpc.profile.get.queryOptions());
  return (
    <HydrationBoundary state={dehydrate(pageQueries())}>
      <ProfilePage />
    </HydrationBoundary>
  );
}
