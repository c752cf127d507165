import { parseAsString, parseAsStringLiteral } from "nuqs/server";

export const ORIGINS = ["bounce", "complaint", "manual"] as const;
export type Origin = (typeof ORIGINS)[number];

/** What of the list stands in the page's address. */
export const suppressionFilters = {
  search: parseAsString,
  origin: parseAsStringLiteral(ORIGINS),
  after: parseAsString,
  before: parseAsString,
};

export type SuppressionFilters = {
  search: string | null;
  origin: Origin | null;
  after: string | null;
  before: string | null;
};

/** The input of the call that fills the list; the server's and the browser's must be equal to share a result. */
export const suppressionListInput = (team: string, filters: SuppressionFilters) => {
  const { after, before } = filters;
  return {
    team,
    ...suppressionsWanted(filters),
    ...(after ? { after } : {}),
    ...(before ? { before } : {}),
  };
};

/** What of them narrows the list, as its export wants it too. */
export const suppressionsWanted = ({ search, origin }: Pick<SuppressionFilters, "search" | "origin">) => ({
  ...(search ? { search } : {}),
  ...(origin ? { origin } : {}),
});
