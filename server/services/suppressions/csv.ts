import { CsvError } from "csv-parse";
import { SUPPRESSION_ORIGINS, type SuppressionOrigin } from "#db/schema/suppressions";
import { parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import type { CsvColumn } from "#server/platform/http/csv";
import { isId } from "#server/platform/ids";
import { restoreCell } from "#server/shared/csv-cell";
import type { Suppression } from "#server/shared/wire/suppression";
import { readRecords } from "./csv-records";
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
];

export type InvalidLine = { line: number; message: string };

/** The content of a file: its entries, the number of invalid lines, and the first `faultsMax` of these. */
type ParsedEntries = { entries: NewSuppression[]; faults: InvalidLine[]; faulty: number };

/**
 * Reads entries from CSV as a stream. The first line may name the columns, in the form of our own export or
 * of other services (see `HEADINGS`); without it, the first column contains the addresses. Accepts commas,
 * semicolons and tabs, and files from spreadsheet programs. An invalid line is reported by its number. A file
 * that is not CSV, is too long or is not UTF-8 is rejected as a whole.
 */
export async function readEntries(bytes: AsyncIterable<Uint8Array>): Promise<ParsedEntries> {
  const read: ParsedEntries = { entries: [], faults: [], faulty: 0 };
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
      if (typeof entry !== "string") read.entries.push(entry);
      else if (++read.faulty <= faultsMax) read.faults.push({ line, message: entry });
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

/** The columns of our own export, and the names that other services use for address and reason. */
const HEADINGS = {
  address: /^(e-?mail|address|e-?mail[ _]?address)$/i,
  origin: /^origin$/i,
  reason: /^(suppression[ _]?)?reason$/i,
  source: /^source_id$/i,
  listsOnly: /^lists_only$/i,
};

/** Column indexes; -1 for a missing column. */
type Columns = Record<keyof typeof HEADINGS, number>;

/** The columns of a file without a heading. */
const ADDRESS_ONLY: Columns = { address: 0, origin: -1, reason: -1, source: -1, listsOnly: -1 };

const findColumns = (record: readonly string[]) =>
  Object.fromEntries(
    Object.entries(HEADINGS).map(([column, name]) => [column, record.findIndex((cell) => name.test(cell))]),
  ) as Columns;

/** Reasons as other services name them, in lower case without spaces, hyphens and underscores. */
const REASONS: Record<string, SuppressionOrigin> = {
  bounce: "bounce",
  bounced: "bounce",
  hardbounce: "bounce",
  complaint: "complaint",
  spamcomplaint: "complaint",
  spamreport: "complaint",
};

/**
 * Parses one line; returns the entry or the error message. An unknown reason counts as `manual`, an empty
 * cell as absent.
 */
function readEntry(columns: Columns, record: readonly string[]): NewSuppression | string {
  const cellOf = (column: number) => restoreCell(record[column] ?? "");
  const mailbox = parseMailbox(cellOf(columns.address));
  if (!mailbox.ok) return mailbox.fault;
  const origin = cellOf(columns.origin);
  const source = cellOf(columns.source);
  const extent = cellOf(columns.listsOnly);
  const known = SUPPRESSION_ORIGINS.find((each) => each === origin.toLowerCase());
  if (origin !== "" && !known)
    return `Invalid \`origin\`: must be one of ${SUPPRESSION_ORIGINS.join(", ")}, or empty.`;
  if (source !== "" && !isId(source)) return "Invalid `source_id`: must be the id of an email, or empty.";
  if (!/^(true|false)?$/i.test(extent)) return "Invalid `lists_only`: must be true or false, or empty.";
  const reason = REASONS[cellOf(columns.reason).toLowerCase().replace(/[ _-]/g, "")];
  return {
    address: mailbox.mailbox.address,
    origin: known ?? reason ?? "manual",
    sourceEmailId: source === "" ? null : source,
    listsOnly: extent.toLowerCase() === "true",
  };
}
