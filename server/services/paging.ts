/** Which part of a list is wanted: the newest, or what lies next to a row already seen. `limit` is 1 to 100. */
export type PageQuery = { limit: number; after?: string; before?: string };

export type Page<T> = { rows: T[]; hasMore: boolean };

export type Cursor = { id: string; direction: "older" | "newer" } | undefined;

/**
 * Reads one page of a list that is ordered newest first by id. The cursor row itself is left out. One row more than
 * wanted is read, to know whether there are more in the direction of travel.
 */
export async function pageOf<T>(
  query: PageQuery,
  read: (cursor: Cursor, order: "newest" | "oldest", limit: number) => Promise<T[]>,
): Promise<Page<T>> {
  const cursor: Cursor = query.before
    ? { id: query.before, direction: "newer" }
    : query.after
      ? { id: query.after, direction: "older" }
      : undefined;
  const backwards = cursor?.direction === "newer";
  const found = await read(cursor, backwards ? "oldest" : "newest", query.limit + 1);
  const rows = found.slice(0, query.limit);
  return { rows: backwards ? rows.reverse() : rows, hasMore: found.length > query.limit };
}
