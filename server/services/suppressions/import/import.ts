import type { Ctx } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { foldAddress } from "#server/shared/text/fold-address";
import type { Command } from "../../audit/record";
import { findSuppressed } from "../read";
import { addNewSuppressions, type NewSuppression } from "../suppress";
import { type Cause, LISTS, type List, PROVIDERS, type ProviderName, readTime } from "./providers";
import { type FileRow, readRows } from "./read-file";

/** Entries of one transaction. */
const batchRows = 5_000;
/** Problems that are reported one by one. The counts include the others. */
const problemsMax = 1_000;

/** A row that was not imported: its place, its address, and the reason. */
export type Problem = { line: number; entry?: number; name: string | null; reason: string };

/**
 * The counts of an import; `read` is their sum. `existing` were on the list before, `repeated` was found
 * earlier in the file, `other` are entries that suppress no address, such as subscribed contacts, and
 * `skipped` are the problems, of which `problems_omitted` are not listed.
 */
export type SuppressionReport = {
  object: "import";
  from: ProviderName;
  dry_run: boolean;
  read: number;
  created: number;
  existing: number;
  repeated: number;
  other: number;
  skipped: number;
  created_by_reason: Record<Cause, number>;
  problems: Problem[];
  problems_omitted: number;
};

export type SuppressionImport = {
  from: ProviderName;
  bytes: AsyncIterable<Uint8Array>;
  /** The list of a file whose rows do not show it. */
  list: List | null;
  isDryRun: boolean;
  /** Called after each batch with the number of rows read. */
  onRead?: (count: number) => void;
};

/**
 * An entry of a batch. One that only widens an earlier one, of this file, is written and not counted again.
 */
type Entry = NewSuppression & { cause: Cause; isCounted: boolean };

/**
 * Adds the suppressed addresses of a provider's export file to the team's list, with the reason and the
 * original time. Reads and writes in batches of 5,000, each a transaction: an import that is interrupted is
 * run again. Existing entries stay; one that blocked only email with an unsubscribe link blocks all email if
 * the provider did. Rows that cannot be read are reported and do not stop the import. A dry run reads the
 * same and writes nothing. The addresses of the file are held in memory, about 150 bytes each.
 */
export async function importSuppressionsFrom(
  ctx: Ctx,
  { from, bytes, list, isDryRun, onRead }: SuppressionImport,
): Promise<SuppressionReport> {
  const report: SuppressionReport = {
    object: "import",
    from,
    dry_run: isDryRun,
    read: 0,
    created: 0,
    existing: 0,
    repeated: 0,
    other: 0,
    skipped: 0,
    created_by_reason: { bounce: 0, complaint: 0, unsubscribe: 0, manual: 0 },
    problems: [],
    problems_omitted: 0,
  };
  // Whether an address was read with an entry that blocks all email.
  const seen = new Map<string, boolean>();
  let batch = new Map<string, Entry>();
  const command: Command = { entryId: null };
  const write = async () => {
    const entries = [...batch.values()];
    const created = isDryRun
      ? await findNew(ctx, entries)
      : (
          await addNewSuppressions(ctx, entries, {
            action: "suppression.imported",
            detail: { from },
            command,
          })
        ).added;
    const createdNow = new Set(created.map(({ address }) => address));
    for (const { address, cause, isCounted } of entries) {
      if (isCounted) continue;
      if (createdNow.has(address)) {
        report.created++;
        report.created_by_reason[cause]++;
      } else report.existing++;
    }
    batch = new Map();
    onRead?.(report.read);
  };

  for await (const given of readRows(bytes)) {
    report.read++;
    const read = readRow(given, from, list);
    if (read === "other") report.other++;
    else if ("reason" in read) {
      report.skipped++;
      const { line, entry } = given;
      const problem = { line, ...(entry !== undefined && { entry }), ...read };
      if (report.problems.length < problemsMax) report.problems.push(problem);
      else report.problems_omitted++;
    } else {
      const { address, listsOnly } = read;
      const before = seen.get(address);
      if (before !== undefined) report.repeated++;
      if (before === true || (before === false && listsOnly)) continue;
      seen.set(address, !listsOnly);
      batch.set(address, { ...read, isCounted: before !== undefined && !batch.has(address) });
    }
    if (batch.size >= batchRows) await write();
  }
  if (batch.size > 0) await write();
  return report;
}

const nameCharsMax = 100;

/** AppError if the rows of the file do not show their list and the caller names none. */
function readRow(
  given: FileRow,
  from: ProviderName,
  list: List | null,
): Omit<Entry, "isCounted"> | "other" | { name: string | null; reason: string } {
  if ("fault" in given) return { name: null, reason: given.fault };
  const { label, address: columns, at, listOf, advice, needsList } = PROVIDERS[from];
  const { row } = given;
  const cellOf = (names: readonly string[]) =>
    names.map((name) => row[name]).find((cell) => cell !== undefined);
  const text = cellOf(columns);
  if (typeof text !== "string" || text === "")
    return { name: null, reason: `The row has no \`${columns[0]}\`.` };
  const name = text.slice(0, nameCharsMax);
  const shown = listOf(row, list);
  if (shown === "other") return shown;
  if (shown === null) {
    if (needsList)
      throw new AppError(
        "invalid",
        `A file of ${label} does not show which list it holds. Name it: --list ${needsList.join(" or --list ")}.`,
      );
    return { name, reason: advice };
  }
  const mailbox = parseMailbox(text);
  if (!mailbox.ok) return { name, reason: mailbox.fault };
  const { cause, listsOnly } = LISTS[shown];
  return {
    address: foldAddress(mailbox.mailbox.address),
    origin: cause,
    listsOnly,
    sourceEmailId: null,
    createdAt: readTime(cellOf(at)),
    cause,
  };
}

/** The entries that the list does not have. */
async function findNew(ctx: Ctx, batch: readonly Entry[]): Promise<Entry[]> {
  const existing = await findSuppressed(
    ctx,
    batch.map(({ address }) => address),
  );
  return batch.filter(({ address }) => !existing.has(address));
}
