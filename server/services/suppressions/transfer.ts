import { and, asc, eq, gt } from "drizzle-orm";
import { type SuppressionOrigin, suppressions } from "#db/schema/suppressions";
import { writeCsv } from "#server/csv";
import type { Ctx } from "#server/deps";
import { addSuppressions } from "./add";
import { type FaultyLine, readAddresses, SUPPRESSION_COLUMNS } from "./csv";
import type { Suppression } from "./present";
import { beginsWith } from "./search";

/** Rows read at once. */
const rowsPerRead = 2_000;

/** What became of a file: how many addresses were new, how many were on the list, and which lines held none. */
export type Imported = { added: number; existing: number; faulty: number; faults: FaultyLine[] };

/**
 * Puts the addresses of a CSV file on the list by hand. The file is read to its end before anything is written, and then all
 * of it is written or nothing. An address that stands in it twice counts once.
 */
export async function importSuppressions(
  ctx: Ctx,
  bytes: AsyncIterable<Uint8Array>,
  onWritten?: (count: number, of: number) => void,
): Promise<Imported> {
  const { addresses, faults, faulty } = await readAddresses(bytes);
  const { ids, added } = await addSuppressions(ctx, addresses, {
    action: "suppression.imported",
    ...(onWritten && { onWritten }),
  });
  return { added: added.length, existing: new Set(ids).size - added.length, faulty, faults };
}

/** What of the list is wanted: addresses that begin with these letters, and those of one origin. */
export type SuppressionFilter = { prefix?: string | undefined; origin?: SuppressionOrigin | undefined };

/**
 * The team's list, or what the filter finds of it, as CSV, oldest first, read from the database only as fast as it is
 * taken. No transaction is open over it: what is added meanwhile may be in it.
 */
export const exportSuppressions = (ctx: Ctx, filter: SuppressionFilter = {}): AsyncGenerator<string> =>
  writeCsv(SUPPRESSION_COLUMNS, readOldestFirst(ctx, filter));

async function* readOldestFirst(
  ctx: Ctx,
  { prefix, origin }: SuppressionFilter,
): AsyncGenerator<Suppression[]> {
  for (let last: string | undefined; ; ) {
    const rows = await ctx.db
      .select()
      .from(suppressions)
      .where(
        and(
          eq(suppressions.teamId, ctx.teamId),
          prefix ? beginsWith(prefix) : undefined,
          origin && eq(suppressions.origin, origin),
          last === undefined ? undefined : gt(suppressions.id, last),
        ),
      )
      .orderBy(asc(suppressions.id))
      .limit(rowsPerRead);
    yield rows;
    last = rows.at(-1)?.id;
    if (rows.length < rowsPerRead) return;
  }
}
