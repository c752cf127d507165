import { parseAsString } from "nuqs/server";

/** The URL parameters of the cursor, which each paged list has beside its filters. */
export const CURSOR = { after: parseAsString, before: parseAsString };

type Active<Filters> = { [Name in keyof Filters]?: NonNullable<Filters[Name]> };

/**
 * The URL parameters that are set: the input of the list query. Server and browser must use the same input,
 * because the browser finds the prefetched result by it.
 */
export const activeFilters = <Filters extends object>(filters: Filters): Active<Filters> =>
  Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== null && value !== ""),
  ) as Active<Filters>;
