import { parseAsString } from "nuqs/server";

/** What of the list stands in the page's address. */
export const templateFilters = { search: parseAsString, after: parseAsString, before: parseAsString };

export type TemplateFilters = { search: string | null; after: string | null; before: string | null };

/** The input of the call that fills the list; the server's and the browser's must be equal to share a result. */
export const templateListInput = (team: string, { search, after, before }: TemplateFilters) => ({
  team,
  ...(search ? { search } : {}),
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});
