import { TRPCError } from "@trpc/server";
import { notFound, redirect } from "next/navigation";
import { pageSession } from "#server/trpc/caller";

export type Search = Record<string, string | string[] | undefined>;

const single = (value: string | string[] | undefined) => (typeof value === "string" ? value : undefined);

/**
 * The team in the URL, or the user's first team if the URL has none. Redirects to the sign-in page without a session, and
 * to `/no-team` if the user has no team. Responds with 404 if the user is not a member of the team. The API procedures
 * check access again.
 */
export async function requireTeam(path: string, search: Search): Promise<{ teamId: string }> {
  const session = await pageSession();
  if (!session) {
    const query = new URLSearchParams(
      Object.entries(search).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
    ).toString();
    redirect(`/login?callbackUrl=${encodeURIComponent(query ? `${path}?${query}` : path)}`);
  }
  const requested = single(search.team);
  const { memberships } = session;
  if (memberships.length === 0) redirect("/no-team");
  const membership =
    requested === undefined ? memberships[0] : memberships.find(({ teamId }) => teamId === requested);
  return membership ?? notFound();
}

/** Shows the 404 page if that is why a query failed. The browser retries after any other error and shows it. */
export function rethrowNotFound(error: unknown): void {
  if (error instanceof TRPCError && error.code === "NOT_FOUND") notFound();
}
