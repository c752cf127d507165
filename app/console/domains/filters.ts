import { parseAsString } from "nuqs/server";

/** The query parameters of the page. */
export const domainFilters = { name: parseAsString, after: parseAsString, before: parseAsString };

export type DomainFilters = { name: string | null; after: string | null; before: string | null };

/** The input of the list query. Server and browser must use the same input to share the cached result. */
export const listInput = (team: string, { name, after, before }: DomainFilters) => ({
  team,
  ...(name ? { name } : {}),
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});
