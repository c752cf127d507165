import { redirect } from "next/navigation";
import { requireTeam, type Search } from "./team";

/** Opens on the list of mails, in the team that the address names. */
export default async function ConsolePage({ searchParams }: { searchParams: Promise<Search> }) {
  const search = await searchParams;
  await requireTeam("/console", search);
  redirect(
    typeof search.team === "string"
      ? `/console/emails?team=${encodeURIComponent(search.team)}`
      : "/console/emails",
  );
}
