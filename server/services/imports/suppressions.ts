import { z } from "zod";
import type { Ctx } from "#server/deps";
import { parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { foldAddress } from "#server/shared/fold-address";
import type { Command } from "../audit/record";
import { findSuppressed } from "../suppressions/read";
import { addNewSuppressions, type NewSuppression } from "../suppressions/suppress";
import type { ImportSource } from "./providers";
import { type Cause, LISTS, type List, type Provider, type Row } from "./providers/provider";
import { openFile } from "./read-file";
import { type ImportReport, openReport, type Problem } from "./report";

/** Entries of one transaction. */
const batchRows = 5_000;

/**
 * The counts of an import; `read` is their sum. `existing` were on the list before, `repeated` was found
 * earlier in the source, `other` are entries that suppress no address, such as subscribed contacts, and
 * `skipped` are the problems.
 */
export type SuppressionReport = ImportReport & {
  read: number;
  created: number;
  existing: number;
  repeated: number;
  other: number;
  skipped: number;
  created_by_reason: Record<Cause, number>;
};

export type SuppressionImport = {
  provider: Provider;
  source: ImportSource;
  /** The list of a file whose rows do not show it. */
  list?: List | undefined;
  /** The domain whose lists are fetched, for a provider that has them per domain. Default: all. */
  domain?: string | undefined;
  isDryRun: boolean;
  /** Called after each batch with the number of rows read. */
  onRead?: (count: number) => void;
};

type Place = Omit<Problem, "name" | "reason">;
type GivenRow = Omit<Place, "list"> & ({ row: unknown; list: List | null } | { fault: string });
/**
 * An entry of a batch. One that only widens an earlier one, of this source, is written and not counted again.
 */
type Entry = NewSuppression & { cause: Cause; isCounted: boolean };

/**
 * Adds a provider's suppressed addresses to the team's list, with the reason and the original time. Reads and
 * writes in batches of 5,000, each a transaction: an import that is interrupted is run again. Existing
 * entries stay; one that blocked only email with an unsubscribe link blocks all email if the provider did.
 * Rows that cannot be read are reported and do not stop the import. A dry run reads the same and writes
 * nothing. The addresses of the source are held in memory, about 150 bytes each, to count repeated ones.
 */
export async function importSuppressionsFrom(
  ctx: Ctx,
  { provider, source, list = undefined, domain, isDryRun, onRead }: SuppressionImport,
): Promise<SuppressionReport> {
  const { report: shared, addProblem } = openReport(provider.name, isDryRun);
  const report: SuppressionReport = {
    ...shared,
    read: 0,
    created: 0,
    existing: 0,
    repeated: 0,
    other: 0,
    skipped: 0,
    created_by_reason: { bounce: 0, complaint: 0, unsubscribe: 0, manual: 0 },
  };
  const skip = (place: Place, reason: string, name: string | null) => {
    report.skipped++;
    addProblem({ ...place, name, reason });
  };
  // Whether an address was read with an entry that blocks all email.
  const seen = new Map<string, boolean>();
  let batch = new Map<string, Entry>();
  const command: Command = { entryId: null };
  const write = async () => {
    const entries = [...batch.values()];
    const created = await (isDryRun ? findNew(ctx, entries) : addEntries(ctx, provider, entries, command));
    for (const { address, cause, isCounted } of entries) {
      if (isCounted) continue;
      if (created.has(address)) {
        report.created++;
        report.created_by_reason[cause]++;
      } else report.existing++;
    }
    batch = new Map();
    onRead?.(report.read);
  };

  for await (const given of readRows(provider, source, list ?? null, domain ?? null)) {
    const { line, entry: number } = given;
    const place = {
      ...(line !== undefined && { line }),
      ...(number !== undefined && { entry: number }),
      // The list of a file is the caller's own.
      ...(line === undefined && "list" in given && given.list !== null && { list: given.list }),
    };
    report.read++;
    if ("fault" in given) {
      skip(place, given.fault, null);
      continue;
    }
    const read = provider.suppressions.read(foldNames(given.row), given.list);
    if ("isOther" in read) report.other++;
    else if ("needsList" in read) throw explainList(provider);
    else if ("reason" in read) skip(place, read.reason, read.name);
    else {
      const mailbox = parseMailbox(read.address);
      if (!mailbox.ok) {
        skip(place, mailbox.fault, read.address.slice(0, 100));
        continue;
      }
      const { cause, listsOnly } = LISTS[read.list];
      const address = foldAddress(mailbox.mailbox.address);
      const before = seen.get(address);
      if (before !== undefined) report.repeated++;
      if (before === true || (before === false && listsOnly)) continue;
      seen.set(address, !listsOnly);
      batch.set(address, {
        address,
        origin: cause === "unsubscribe" ? "manual" : cause,
        listsOnly,
        sourceEmailId: null,
        createdAt: read.at,
        cause,
        isCounted: before !== undefined && !batch.has(address),
      });
    }
    if (batch.size >= batchRows) await write();
  }
  if (batch.size > 0) await write();
  return { ...report, ...shared };
}

/** The addresses of the batch that the list does not have. */
async function findNew(ctx: Ctx, batch: readonly Entry[]): Promise<Set<string>> {
  const existing = await findSuppressed(
    ctx,
    batch.map(({ address }) => address),
  );
  return new Set(batch.flatMap(({ address }) => (existing.has(address) ? [] : address)));
}

async function addEntries(
  ctx: Ctx,
  { name }: Provider,
  batch: readonly Entry[],
  command: Command,
): Promise<Set<string>> {
  const { added } = await addNewSuppressions(ctx, batch, {
    action: "suppression.imported",
    detail: { from: name },
    command,
  });
  return new Set(added.map(({ address }) => address));
}

const explainList = ({ label, suppressions: { unmarked } }: Provider): AppError =>
  new AppError(
    "invalid",
    `A file of ${label} does not show which list it holds. Name it: --list ${unmarked.join(" or --list ")}.`,
  );

async function* readRows(
  { label, suppressions }: Provider,
  source: ImportSource,
  list: List | null,
  domain: string | null,
): AsyncGenerator<GivenRow> {
  if ("call" in source) {
    if (suppressions.fetch === null)
      throw new AppError("invalid", `Import the suppressions of ${label} from a file.`);
    const counts = new Map<List | null, number>();
    for await (const page of suppressions.fetch(source.call, domain)) {
      const before = counts.get(page.list) ?? 0;
      for (const [place, row] of page.rows.entries())
        yield { entry: before + place + 1, row, list: page.list };
      counts.set(page.list, before + page.rows.length);
    }
    return;
  }
  const file = await openFile(source.bytes);
  if (file.kind === "csv") {
    for await (const row of file.rows) yield "fault" in row ? row : { line: row.line, row: row.cells, list };
    return;
  }
  for await (const document of file.documents) {
    const rows = "fault" in document ? null : suppressions.rowsOf(document.value);
    if (rows === null)
      yield {
        line: document.line,
        fault: "fault" in document ? document.fault : `This document has no suppressions of ${label}.`,
      };
    else
      for (const [place, row] of rows.entries()) yield { line: document.line, entry: place + 1, row, list };
  }
}

const AnyRow = z.record(z.string(), z.unknown()).catch({});

/**
 * A row with its names in lower case, without spaces, hyphens and underscores: files and APIs write them
 * differently.
 */
const foldNames = (row: unknown): Row =>
  Object.fromEntries(
    Object.entries(AnyRow.parse(row)).map(([name, value]) => [
      name.toLowerCase().replace(/[ _-]/g, ""),
      value,
    ]),
  );
