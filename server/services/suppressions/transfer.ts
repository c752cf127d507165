import { and, asc, eq, gt } from "drizzle-orm";
import { type SuppressionOrigin, suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { writeCsv } from "#server/platform/http/csv";
import { foldAddress } from "#server/shared/text/fold-address";
import type { Suppression } from "#server/shared/wire/suppression";
import { type ParsedEntries, parseEntries, SUPPRESSION_COLUMNS } from "./csv";
import { beginsWith } from "./search";
import { addNewSuppressions, addSuppressions, type NewSuppression } from "./suppress";

/** Rows read at once. */
const rowsPerRead = 2_000;

/**
 * The result of an import, by addresses: `added` are new, with their number by origin; `changed` were on the
 * list for some email only, and now block more; `existing` were on it and stay as they are. By lines:
 * `repeated` have an address of an earlier line, and `faulty` are invalid.
 * `unknownReasons` and `unreadDates` count lines that were imported as `manual` or with the time of the
 * import, because what they contain is not known.
 */
export type Imported = Omit<ParsedEntries, "entries"> & {
  added: number;
  addedBy: Record<SuppressionOrigin, number>;
  changed: number;
  existing: number;
  repeated: number;
};

/**
 * Adds the entries of a CSV file to the suppression list, with the origin and the time from the file, or
 * `manual` and now. The whole file is parsed before anything is written, and then all of it is written or
 * none. Of several lines with one address, the first counts, unless only a later one blocks all email.
 */
export async function importSuppressions(
  ctx: Ctx,
  bytes: AsyncIterable<Uint8Array>,
  onWritten?: (count: number, of: number) => void,
): Promise<Imported> {
  const { entries, ...read } = await parseEntries(bytes);
  const wanted = new Map<string, NewSuppression>();
  for (const entry of entries) {
    const address = foldAddress(entry.address);
    const before = wanted.get(address);
    if (!before || (before.listsOnly && (!entry.listsOnly || (before.lists && !entry.lists))))
      wanted.set(address, entry);
  }
  const { added, changed } = await addNewSuppressions(ctx, [...wanted.values()], {
    action: "suppression.imported",
    ...(onWritten && { onWritten }),
  });
  const addedBy = { bounce: 0, complaint: 0, unsubscribe: 0, manual: 0 };
  for (const { origin } of added) addedBy[origin]++;
  return {
    added: added.length,
    addedBy,
    changed,
    existing: wanted.size - added.length - changed,
    repeated: entries.length - wanted.size,
    ...read,
  };
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
 * The result of pasted text: new addresses, entries that now block all email, addresses that were on the list
 * already, and invalid ones with the reason.
 */
export type PasteResult = {
  added: number;
  changed: number;
  existing: number;
  rejected: { text: string; reason: string }[];
};

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
  const { ids, added, changed } = await addSuppressions(ctx, addresses);
  const existing = new Set(ids).size - added.length - changed;
  return { added: added.length, changed, existing, rejected };
}
