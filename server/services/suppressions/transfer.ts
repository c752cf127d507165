import { and, asc, eq, gt } from "drizzle-orm";
import { type SuppressionOrigin, suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { writeCsv } from "#server/platform/http/csv";
import type { Suppression } from "#server/shared/wire/suppression";
import { type InvalidLine, readEntries, SUPPRESSION_COLUMNS } from "./csv";
import { beginsWith } from "./search";
import { addNewSuppressions, addSuppressions } from "./suppress";

/** Rows read at once. */
const rowsPerRead = 2_000;

/** The result of an import: new addresses, addresses that were on the list already, and the invalid lines. */
export type Imported = { added: number; existing: number; faulty: number; faults: InvalidLine[] };

/**
 * Adds the entries of a CSV file to the suppression list, with the origin from the file or `manual`. The
 * whole file is parsed before anything is written, and then all of it is written or none. A duplicate address
 * counts once.
 */
export async function importSuppressions(
  ctx: Ctx,
  bytes: AsyncIterable<Uint8Array>,
  onWritten?: (count: number, of: number) => void,
): Promise<Imported> {
  const { entries, faults, faulty } = await readEntries(bytes);
  const { ids, added } = await addNewSuppressions(ctx, entries, {
    action: "suppression.imported",
    ...(onWritten && { onWritten }),
  });
  return { added: added.length, existing: new Set(ids).size - added.length, faulty, faults };
}

/** Filters the list: addresses that begin with `prefix`, and one origin. */
export type SuppressionFilter = { prefix?: string | undefined; origin?: SuppressionOrigin | undefined };

/**
 * The team's suppression list, or the part that the filter finds, as CSV, oldest first, read from the
 * database as it is consumed. No transaction stays open meanwhile, so entries that are added during the
 * export may be included.
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
          prefix ? beginsWith(ctx.teamId, prefix) : undefined,
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

/**
 * The result of pasted text: new addresses, addresses that were on the list already, and invalid ones with
 * the reason.
 */
export type PasteResult = { added: number; existing: number; rejected: { text: string; reason: string }[] };

const excerptCharsMax = 100;

/**
 * Adds all addresses of a text to the suppression list, separated by lines, commas or semicolons. Reports
 * invalid ones.
 */
export async function addPastedSuppressions(ctx: Ctx, text: string): Promise<PasteResult> {
  const addresses: string[] = [];
  const rejected: PasteResult["rejected"] = [];
  for (const part of text.split(/[\r\n,;]+/)) {
    const given = part.trim();
    if (given === "") continue;
    const read = parseMailbox(given);
    if (read.ok) addresses.push(read.mailbox.address);
    else rejected.push({ text: given.slice(0, excerptCharsMax), reason: read.fault });
  }
  const { ids, added } = await addSuppressions(ctx, addresses);
  return { added: added.length, existing: new Set(ids).size - added.length, rejected };
}
