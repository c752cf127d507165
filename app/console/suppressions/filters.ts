import { parseAsString, parseAsStringLiteral } from "nuqs/server";

export const ORIGINS = ["bounce", "complaint", "manual"] as const;
export type Origin = (typeof ORIGINS)[number];

/** The query parameters of the page. */
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

/** The input of the list query. Server and browser must use the same input to share the cached result. */
export const suppressionListInput = (team: string, filters: SuppressionFilters) => {
  const { after, before } = filters;
  return {
    team,
    ...suppressionQuery(filters),
    ...(after ? { after } : {}),
    ...(before ? { before } : {}),
  };
};

/** The filters of the list, also used by its export. */
export const suppressionQuery = ({ search, origin }: Pick<SuppressionFilters, "search" | "origin">) => ({
  ...(search ? { search } : {}),
  ...(origin ? { origin } : {}),
});
