import { finished } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { parse } from "csv-parse";
import { AppError } from "#server/platform/errors";

/** A longer line cannot be an address: most likely a quote was opened and never closed. */
const lineCharsMax = 10_000;
const sliceBytes = 8 * 1024;

/**
 * The records of a CSV file as a stream, with their line numbers from 1. Accepts commas, semicolons and tabs,
 * and files from spreadsheet programs. Where the rest of the file cannot be read it throws a CsvError, after
 * all records before that place. Throws an AppError if the file is not UTF-8.
 */
export async function* readRecords(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ record: string[]; line: number }> {
  const records: { record: string[]; line: number }[] = [];
  const parser = parse({
    bom: true,
    delimiter: [",", ";", "\t"],
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: lineCharsMax,
    skip_empty_lines: true,
    trim: true,
    // A stream drops the records that it holds when it fails. So they are taken from the parser itself.
    on_record: (record: string[], { lines }) => {
      records.push({ record, line: lines });
      return null;
    },
  });
  const ended = finished(parser.resume()).then(
    () => null,
    (fault: unknown) => ({ fault }),
  );
  try {
    for await (const text of decode(bytes)) {
      if (parser.destroyed) break;
      parser.write(text);
      yield* records.splice(0);
    }
    parser.end();
    const failed = await ended;
    yield* records.splice(0);
    if (failed) throw failed.fault;
  } finally {
    parser.destroy();
  }
}

async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  const read = (...given: Parameters<typeof utf8.decode>) => {
    try {
      return utf8.decode(...given);
    } catch (cause) {
      throw new AppError("bad_json", "The file is not valid UTF-8. Encode it as UTF-8.", { cause });
    }
  };
  for await (const chunk of bytes)
    for (let from = 0; from < chunk.length; from += sliceBytes) {
      yield read(chunk.subarray(from, from + sliceBytes), { stream: true });
      // A slice contains hundreds of lines. Other requests run before the next one.
      await setImmediate();
    }
  yield read();
}
