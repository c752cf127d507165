import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { CsvError, parse } from "csv-parse";
import { AppError } from "#server/platform/errors";
import type { CsvColumn } from "#server/platform/http/csv";
import type { Suppression } from "#server/shared/wire/suppression";
import { findColumns, readEntry } from "./row";
import type { NewSuppression } from "./suppress";

/** Lines per import; a larger file must be split. */
export const linesMax = 100_000;
/** A longer line cannot be an address: most likely a quote was opened and never closed. */
const lineCharsMax = 10_000;
/** Invalid lines that are reported individually. */
export const faultsMax = 1_000;

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
export type ParsedEntries = { entries: NewSuppression[]; faults: InvalidLine[]; faulty: number };

/**
 * Reads entries from CSV as a stream. The first line may name the columns, in the form of our own export or
 * of other services (see `findColumns`); without it, the first column contains the addresses. Accepts commas,
 * semicolons and tabs, and files from spreadsheet programs. An invalid line is reported by its number. A file
 * that is not CSV, is too long or is not UTF-8 is rejected as a whole.
 */
export async function readEntries(bytes: AsyncIterable<Uint8Array>): Promise<ParsedEntries> {
  const read: ParsedEntries = { entries: [], faults: [], faulty: 0 };
  const parser = parse({
    bom: true,
    delimiter: [",", ";", "\t"],
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: lineCharsMax,
    skip_empty_lines: true,
    trim: true,
  });
  const source = Readable.from(decode(bytes));
  source.once("error", (error) => parser.destroy(error));
  source.pipe(parser);
  let columns = findColumns([]);
  let isFirst = true;
  let lines = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>) {
      if (isFirst) {
        isFirst = false;
        columns = findColumns(record);
        if (columns.isHeading) continue;
      }
      if (++lines > linesMax)
        throw new AppError(
          "invalid",
          `The file has more than ${linesMax.toLocaleString("en")} lines. Split it into smaller files.`,
        );
      const entry = readEntry(columns, record);
      if (typeof entry !== "string") read.entries.push(entry);
      else if (++read.faulty <= faultsMax) read.faults.push({ line: info.lines, message: entry });
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new AppError("invalid", `${placeOf(error)}Check its quotation marks.`, { cause: error });
  } finally {
    source.destroy();
  }
  return read;
}

const placeOf = ({ lines }: CsvError & { lines?: unknown }): string =>
  typeof lines === "number"
    ? `The file is not valid CSV from line ${lines} on. `
    : "The file is not valid CSV. ";

async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  const read = (...given: Parameters<typeof utf8.decode>) => {
    try {
      return utf8.decode(...given);
    } catch (cause) {
      throw new AppError("bad_json", "The body is not valid UTF-8. Encode it as UTF-8.", { cause });
    }
  };
  for await (const chunk of bytes) {
    yield read(chunk, { stream: true });
    // One chunk contains thousands of lines. Other requests run before the next one.
    await setImmediate();
  }
  yield read();
}
