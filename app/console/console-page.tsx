import { dehydrate, type FetchQueryOptions, HydrationBoundary, type QueryKey } from "@tanstack/react-query";
import { TRPCError } from "@trpc/server";
import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import { createLoader, type inferParserType } from "nuqs/server";
import type { ReactNode } from "react";
import { pageQueries, pageSession } from "#server/trpc/caller";
import { activeFilters } from "./_ui/list/list-filters";

export type Search = Record<string, string | string[] | undefined>;

/** The names in brackets: `id` of "/console/keys/[id]". */
type ParamName<Path> = Path extends `${string}[${infer Name}]${infer Rest}` ? Name | ParamName<Rest> : never;

type Content = {
  /** The queries of the page. If one fails, the browser repeats it and shows the error. */
  queries?: readonly Query[];
  /** The same, for the objects in the path: a missing one is the 404 page. */
  objects?: readonly Query[];
  page: ReactNode;
};
type Query = { queryKey: QueryKey };

/**
 * A page of the console at `path`. It requires a member of the team in the URL, and contains the results of
 * its queries, so the browser renders it without a request.
 */
export function consolePage<Path extends string>(
  path: Path,
  load: (request: {
    team: string;
    params: Record<ParamName<Path>, string>;
    search: Search;
  }) => Content | Promise<Content>,
) {
  type Props = { params: Promise<Record<ParamName<Path>, string>>; searchParams: Promise<Search> };
  return async function ConsolePage(props: Props) {
    const [params, search] = await Promise.all([props.params, props.searchParams]);
    const ownPath = path.replace(/\[(\w+)\]/g, (_, name: ParamName<Path>) =>
      encodeURIComponent(params[name]),
    );
    const { teamId } = await requireTeam(ownPath, search);
    const { queries = [], objects = [], page } = await load({ team: teamId, params, search });
    const results = pageQueries();
    await Promise.all([
      ...queries.map((query) => results.prefetchQuery(query as FetchQueryOptions)),
      ...objects.map((query) => results.fetchQuery(query as FetchQueryOptions).catch(rethrowNotFound)),
    ]);
    return <HydrationBoundary state={dehydrate(results)}>{page}</HydrationBoundary>;
  };
}

/**
 * The title of the page of one object is its name, which tabs, the history and bookmarks show; `kind` if it
 * cannot be read or has none. `query` receives the team and the ids in the path. The page uses the same
 * query, which then runs once.
 */
export const objectTitle =
  <Data, Ids extends { id: string } = { id: string }>(
    kind: string,
    query: (request: Ids & { team: string }) => Query | Promise<Query>,
    nameOf: (data: Data) => string,
  ) =>
  async (props: { params: Promise<Ids>; searchParams: Promise<Search> }): Promise<Metadata> => {
    try {
      const [ids, search] = await Promise.all([props.params, props.searchParams]);
      const { teamId: team } = await requireTeam("", search);
      const options = (await query({ ...ids, team })) as FetchQueryOptions<Data>;
      return { title: nameOf(await pageQueries().fetchQuery(options)) || kind };
    } catch {
      // The page itself redirects, or shows what is missing.
      return { title: kind };
    }
  };

/** The sign-in page, which leads back to a path with its parameters. */
export const loginPath = (from: string): string => `/login?callbackUrl=${encodeURIComponent(from)}`;

/** The parameters of a list that the URL sets, for its query. */
export const readFilters = <Parsers extends Parameters<typeof createLoader>[0]>(
  parsers: Parsers,
  search: Search,
) => activeFilters(createLoader(parsers)(search) as inferParserType<Parsers>);

/**
 * The team in the URL, or the user's first team if the URL has none. Redirects to the sign-in page without a
 * session, and to `/no-team` if the user has no team. Responds with 404 if the user is not a member of the
 * team. The API procedures check access again.
 */
async function requireTeam(path: string, search: Search): Promise<{ teamId: string }> {
  const session = await pageSession();
  if (!session) {
    const query = new URLSearchParams(
      Object.entries(search).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
    ).toString();
    redirect(loginPath(query ? `${path}?${query}` : path));
  }
  const requested = typeof search.team === "string" ? search.team : undefined;
  const { memberships } = session;
  if (memberships.length === 0) redirect("/no-team");
  const membership =
    requested === undefined ? memberships[0] : memberships.find(({ teamId }) => teamId === requested);
  return membership ?? notFound();
}

/**
 * Shows the 404 page if that is why a query failed. The browser retries after any other error and shows it.
 */
function rethrowNotFound(error: unknown): void {
  if (error instanceof TRPCError && error.code === "NOT_FOUND") notFound();
}
