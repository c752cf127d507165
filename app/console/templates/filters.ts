import { parseAsString } from "nuqs/server";

/** The URL parameters of the list. */
export const templateFilters = { search: parseAsString, after: parseAsString, before: parseAsString };

export type TemplateFilters = { search: string | null; after: string | null; before: string | null };

/** The input of the list query. Server and browser must use the same input to share the prefetched result. */
export const templateListInput = (team: string, { search, after, before }: TemplateFilters) => ({
  team,
  ...(search ? { search } : {}),
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});
