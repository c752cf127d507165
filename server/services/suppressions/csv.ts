import { CsvError } from "csv-parse";
import { SUPPRESSION_ORIGINS, type SuppressionOrigin } from "#db/schema/suppressions";
import { parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import type { CsvColumn } from "#server/platform/http/csv";
import { isId } from "#server/platform/ids";
import { restoreCell } from "#server/shared/text/csv-cell";
import { ListName } from "#server/shared/wire/email";
import type { Suppression } from "#server/shared/wire/suppression";
import { readRecords } from "./csv-records";
import { readTime } from "./import/providers";
import type { NewSuppression } from "./suppress";

/** Lines per import; a larger file must be split. */
const linesMax = 100_000;
/** Invalid lines that are reported individually. */
const faultsMax = 1_000;

/** The columns of an export of the suppression list. */
export const SUPPRESSION_COLUMNS: readonly CsvColumn<Suppression>[] = [
  { name: "email", of: ({ address }) => address },
  { name: "origin", of: ({ origin }) => origin },
  { name: "source_id", of: ({ sourceEmailId }) => sourceEmailId },
  { name: "lists_only", of: ({ listsOnly }) => listsOnly },
  { name: "created_at", of: ({ createdAt }) => createdAt },
  { name: "lists", of: ({ lists }) => lists?.join("|") ?? null },
];

export type InvalidLine = { line: number; message: string };

/**
 * The content of a file: its entries, how many of them have a reason or a date that is not known, the number
 * of invalid lines, and the first `faultsMax` of these.
 */
export type ParsedEntries = {
  entries: NewSuppression[];
  unknownReasons: number;
  unreadDates: number;
  faults: InvalidLine[];
  faulty: number;
};

/**
 * Reads entries from CSV as a stream. The first line may name the columns, in the form of our own export or
 * of other services (see `HEADINGS`); without it, the first column contains the addresses. Accepts commas,
 * semicolons and tabs, and files from spreadsheet programs. An invalid line is reported by its number. A file
 * that is not CSV, is too long or is not UTF-8 is rejected as a whole.
 */
export async function parseEntries(bytes: AsyncIterable<Uint8Array>): Promise<ParsedEntries> {
  const read: ParsedEntries = { entries: [], unknownReasons: 0, unreadDates: 0, faults: [], faulty: 0 };
  let columns: Columns | undefined;
  let lines = 0;
  try {
    for await (const { record, line } of readRecords(bytes)) {
      if (columns === undefined) {
        columns = findColumns(record);
        if (columns.address !== -1) continue;
        columns = ADDRESS_ONLY;
      }
      if (++lines > linesMax)
        throw new AppError(
          "invalid",
          `The file has more than ${linesMax.toLocaleString("en")} lines. Split it into smaller files.`,
        );
      const entry = readEntry(columns, record);
      if (typeof entry !== "string") {
        read.entries.push(entry.entry);
        if (!entry.isReasonKnown) read.unknownReasons++;
        if (!entry.isDateKnown) read.unreadDates++;
      } else if (++read.faulty <= faultsMax) read.faults.push({ line, message: entry });
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new AppError("invalid", `${placeOf(error)}Check its quotation marks.`, { cause: error });
  }
  return read;
}

const placeOf = ({ lines }: CsvError & { lines?: unknown }): string =>
  typeof lines === "number"
    ? `The file is not valid CSV from line ${lines} on. `
    : "The file is not valid CSV. ";

/** The columns of our own export, and the names that other services use. */
const HEADINGS = {
  address: /^(e-?mail|address|e-?mail[ _]?address)$/i,
  origin: /^origin$/i,
  reason: /^(suppression[ _]?)?reason$/i,
  /** The columns `code` and `error` are in a list of bounces, `tags` in a list of unsubscribes. */
  code: /^(code|error)$/i,
  tags: /^tags$/i,
  source: /^source_id$/i,
  listsOnly: /^lists_only$/i,
  lists: /^lists$/i,
  createdAt: /^(created([ _]?at)?|last[ _]?update[ _]?time)$/i,
};

/** Column indexes; -1 for a missing column. */
type Columns = Record<keyof typeof HEADINGS, number>;

const findColumns = (record: readonly string[]) =>
  Object.fromEntries(
    Object.entries(HEADINGS).map(([column, name]) => [column, record.findIndex((cell) => name.test(cell))]),
  ) as Columns;

/** The columns of a file without a heading. */
const ADDRESS_ONLY: Columns = { ...findColumns([]), address: 0 };

type Cause = { origin: SuppressionOrigin; listsOnly: boolean };

const BOUNCE: Cause = { origin: "bounce", listsOnly: false };
const COMPLAINT: Cause = { origin: "complaint", listsOnly: false };
const MANUAL: Cause = { origin: "manual", listsOnly: false };
/** An unsubscribe from all email, and from some of it. */
const UNSUBSCRIBE: Cause = { origin: "unsubscribe", listsOnly: false };
const LISTS_ONLY: Cause = { origin: "unsubscribe", listsOnly: true };

/** Reasons as other services name them, in lower case without spaces, hyphens and underscores. */
const REASONS: Record<string, Cause> = {
  bounce: BOUNCE,
  bounced: BOUNCE,
  hardbounce: BOUNCE,
  invalid: BOUNCE,
  complaint: COMPLAINT,
  spamcomplaint: COMPLAINT,
  spamreport: COMPLAINT,
  manual: MANUAL,
  manualsuppression: MANUAL,
  unsubscribe: UNSUBSCRIBE,
  unsubscribed: UNSUBSCRIBE,
};

/** Who suppressed an address, in the column `origin` of a service that has the reason in its own column. */
const FOREIGN_ORIGINS = ["recipient", "customer", "admin"];

const fold = (text: string): string => text.toLowerCase().replace(/[ _-]/g, "");

type CellOf = (column: keyof Columns) => string;

/**
 * Why the line's address is suppressed. Null if the line has a reason that is not known, `undefined` if it
 * has none.
 */
function readCause(cellOf: CellOf): Cause | null | undefined {
  const own = SUPPRESSION_ORIGINS.find((each) => each === cellOf("origin").toLowerCase());
  if (own) return { origin: own, listsOnly: false };
  const reason = fold(cellOf("reason"));
  if (reason === "manualsuppression" && fold(cellOf("origin")) === "recipient") return LISTS_ONLY;
  if (reason !== "") return REASONS[reason] ?? null;
  if (cellOf("code") !== "") return BOUNCE;
  const tags = cellOf("tags");
  if (tags !== "") return tags.includes("*") ? UNSUBSCRIBE : LISTS_ONLY;
  return undefined;
}

type ReadLine = { entry: NewSuppression; isReasonKnown: boolean; isDateKnown: boolean };

/** Parses one line; returns the entry or the error message. A reason that is not known counts as `manual`. */
function readEntry(columns: Columns, record: readonly string[]): ReadLine | string {
  const cellOf: CellOf = (column) => restoreCell(record[columns[column]] ?? "");
  const mailbox = parseMailbox(cellOf("address"));
  if (!mailbox.ok) return mailbox.fault;
  const source = cellOf("source");
  const extent = cellOf("listsOnly");
  const cause = readCause(cellOf);
  const isForeign = columns.reason !== -1 && FOREIGN_ORIGINS.includes(fold(cellOf("origin")));
  if (!isForeign && cellOf("origin") !== "" && !isOwnOrigin(cellOf("origin")))
    return `Invalid \`origin\`: must be one of ${SUPPRESSION_ORIGINS.join(", ")}, or empty.`;
  if (source !== "" && !isId(source)) return "Invalid `source_id`: must be the id of an email, or empty.";
  if (!/^(true|false)?$/i.test(extent)) return "Invalid `lists_only`: must be true or false, or empty.";
  const { origin, listsOnly: isLimited } = cause ?? MANUAL;
  const listsOnly = extent === "" ? isLimited : extent.toLowerCase() === "true";
  const lists = cellOf("lists") === "" ? null : cellOf("lists").split("|");
  if (lists && !(listsOnly && lists.every((name) => ListName.safeParse(name).success)))
    return "Invalid `lists`: must be names of lists with | between them, and `lists_only` true, or empty.";
  const createdAt = readTime(cellOf("createdAt"));
  return {
    entry: {
      address: mailbox.mailbox.address,
      origin,
      sourceEmailId: source === "" ? null : source,
      listsOnly,
      lists,
      createdAt,
    },
    isReasonKnown: cause !== null,
    isDateKnown: createdAt !== null || cellOf("createdAt") === "",
  };
}

const isOwnOrigin = (text: string): boolean =>
  SUPPRESSION_ORIGINS.some((each) => each === text.toLowerCase());
