import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { CsvError, parse } from "csv-parse";
import { type CsvColumn, restoreCell } from "#server/csv";
import { AppError } from "#server/errors";
import { parseMailbox } from "#server/mail/address";
import type { Suppression } from "./present";

/** Lines of one import; a larger file comes in parts. */
export const linesMax = 100_000;
/** A longer line is no address: most likely a quote was opened and never closed. */
const lineCharsMax = 10_000;
/** Faulty lines that are told of one by one. */
export const faultsMax = 1_000;

/** What stands in an export of the list. */
export const SUPPRESSION_COLUMNS: readonly CsvColumn<Suppression>[] = [
  { name: "email", of: ({ address }) => address },
  { name: "origin", of: ({ origin }) => origin },
  { name: "source_id", of: ({ sourceEmailId }) => sourceEmailId },
  { name: "created_at", of: ({ createdAt }) => createdAt },
];

export type FaultyLine = { line: number; message: string };

/** What a file says: its addresses, and what could not be read, of which `faults` holds the first. */
export type ReadAddresses = { addresses: string[]; faults: FaultyLine[]; faulty: number };

/**
 * Reads addresses from CSV as its bytes come: from the column `email` or `address` where the first line names one, else from
 * the first column. Understands commas, semicolons and tabs, and files of this service and of programs that calculate. A
 * line that holds no address is told of by its number; a file that is no CSV, too long or not UTF-8 is refused whole.
 */
export async function readAddresses(bytes: AsyncIterable<Uint8Array>): Promise<ReadAddresses> {
  const read: ReadAddresses = { addresses: [], faults: [], faulty: 0 };
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
  let column = 0;
  let isFirst = true;
  let lines = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>) {
      if (isFirst) {
        isFirst = false;
        const named = record.findIndex((cell) => /^(e-?mail|address|email[ _]address)$/i.test(cell));
        column = Math.max(0, named);
        if (named !== -1) continue;
      }
      if (++lines > linesMax)
        throw new AppError(
          "invalid",
          `The file has more than ${linesMax.toLocaleString("en")} lines. Send it in parts.`,
        );
      const mailbox = parseMailbox(restoreCell(record[column] ?? ""));
      if (mailbox.ok) read.addresses.push(mailbox.mailbox.address);
      else if (++read.faulty <= faultsMax) read.faults.push({ line: info.lines, message: mailbox.fault });
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new AppError("invalid", `${placeOf(error)}Check its quotes.`, { cause: error });
  } finally {
    source.destroy();
  }
  return read;
}

const placeOf = ({ lines }: CsvError & { lines?: unknown }): string =>
  typeof lines === "number" ? `From line ${lines} on the file is no CSV. ` : "The file is no CSV. ";

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
    // A piece has thousands of lines; what came meanwhile is answered before the next.
    await setImmediate();
  }
  yield read();
}
