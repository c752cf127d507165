import { and, asc, desc, eq, gt, lt, type SQL } from "drizzle-orm";
import type { AnyPgColumn, PgSelect, PgTable } from "drizzle-orm/pg-core";
import type { Ctx } from "#server/deps";
import { invalidField } from "#server/platform/errors";

/** Selects a page: the newest rows, or those next to a cursor row. `limit` is 1 to 100. */
export type PageQuery = { limit: number; after?: string; before?: string };

export type Page<T> = { rows: T[]; hasMore: boolean };

export type Cursor = { id: string; direction: "older" | "newer" } | undefined;

/**
 * Reads one page of a list that is ordered newest first by id. The cursor row itself is not included. One
 * extra row is read to find out whether there are more in the paging direction.
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

type TeamTable = PgTable & { id: AnyPgColumn; teamId: AnyPgColumn };

/** What a list of a team's table shows: how its rows are selected, and which of them. */
export type Listing<Select extends PgSelect> = {
  select: () => Select;
  /** The part of the table that the list shows: a cursor must be one of its rows. */
  within?: SQL;
  /** Its filters. */
  where?: SQL;
};

/** Reads one page of the team's rows of a table, newest first by id. Throws as `requireCursor`. */
export async function pageById<Select extends PgSelect>(
  ctx: Ctx,
  table: TeamTable,
  query: PageQuery,
  listing: Listing<Select>,
): Promise<Page<Awaited<Select>[number]>> {
  await requireCursor(ctx, table, query, listing.within);
  return pageByUncheckedId(ctx, table, query, listing);
}

/** The same for code that pages through a whole list: the cursor row may expire between two pages. */
const pageByUncheckedId = <Select extends PgSelect>(
  ctx: Ctx,
  table: TeamTable,
  query: PageQuery,
  { select, within, where }: Listing<Select>,
): Promise<Page<Awaited<Select>[number]>> =>
  pageOf(query, async (cursor, order, limit) => {
    const beyond = cursor && (cursor.direction === "older" ? lt : gt)(table.id, cursor.id);
    const sort = order === "newest" ? desc : asc;
    const rows = await select()
      .where(and(eq(table.teamId, ctx.teamId), within, where, beyond))
      .orderBy(sort(table.id))
      .limit(limit);
    return rows as Awaited<Select>[number][];
  });

/** Rows that one read of an export returns at most. */
const rowsPerRead = 1_000;

/**
 * The team's rows of a table, newest first, in batches. A batch is read when the consumer requests it. Rows
 * may expire meanwhile.
 */
export async function* readAllById<Select extends PgSelect>(
  ctx: Ctx,
  table: TeamTable,
  listing: Listing<Select>,
): AsyncGenerator<Awaited<Select>[number][]> {
  for (let after: string | undefined; ; ) {
    const query = { limit: rowsPerRead, ...(after ? { after } : {}) };
    const { rows, hasMore } = await pageByUncheckedId(ctx, table, query, listing);
    yield rows;
    after = rows.at(-1)?.id;
    if (!hasMore || !after) return;
  }
}

/**
 * Requires that the cursor is a row of the team's table, and of `within` if the list shows only part of it.
 * Throws `invalid` (422) otherwise: an empty page would look like the end of the list. Filters are not
 * applied, because a row may change between two pages.
 */
export async function requireCursor(
  ctx: Ctx,
  table: TeamTable,
  { after, before }: Pick<PageQuery, "after" | "before">,
  within?: SQL,
): Promise<void> {
  const id = before ?? after;
  if (id === undefined) return;
  const [row] = await ctx.db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.teamId, ctx.teamId), eq(table.id, id), within));
  if (row) return;
  throw invalidField(
    before ? "before" : "after",
    `this list has no row ${id}. Use the id of one of its rows, or omit it for the first page.`,
  );
}
