import { notFound, redirect } from "next/navigation";
import { pageSession } from "#server/trpc/caller";

export type Search = Record<string, string | string[] | undefined>;

const single = (value: string | string[] | undefined) => (typeof value === "string" ? value : undefined);

/**
 * The team that a page's address names, or the reader's first where it names none. Sends whoever is not signed in to
 * sign in, and back here; whoever is in no team to where they are told what would help. A team that the reader is not in
 * is not found. The procedures check it all again.
 */
export async function requireTeam(path: string, search: Search): Promise<{ teamId: string }> {
  const session = await pageSession();
  if (!session) {
    const query = new URLSearchParams(
      Object.entries(search).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
    ).toString();
    redirect(`/login?callbackUrl=${encodeURIComponent(query ? `${path}?${query}` : path)}`);
  }
  const wanted = single(search.team);
  const { memberships } = session;
  if (memberships.length === 0) redirect("/no-team");
  const membership =
    wanted === undefined ? memberships[0] : memberships.find(({ teamId }) => teamId === wanted);
  return membership ?? notFound();
}
