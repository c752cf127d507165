import { redirect } from "next/navigation";
import { requireTeam, type Search } from "../team";

/** Redirects to the profile page, with the team of the query parameter. */
export default async function SettingsPage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  await requireTeam("/console/settings", search);
  const { team } = search;
  redirect(
    typeof team === "string"
      ? `/console/settings/profile?team=${encodeURIComponent(team)}`
      : "/console/settings/profile",
  );
}
