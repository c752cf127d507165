import { parseAsString } from "nuqs/server";

/** What of the list stands in the page's address. */
export const domainFilters = { name: parseAsString, after: parseAsString, before: parseAsString };

export type DomainFilters = { name: string | null; after: string | null; before: string | null };

/** The input of the call that fills the list; the server's and the browser's must be equal to share a result. */
export const listInput = (team: string, { name, after, before }: DomainFilters) => ({
  team,
  ...(name ? { name } : {}),
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});
