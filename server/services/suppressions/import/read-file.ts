import { CsvError } from "csv-parse";
import { z } from "zod";
import { AppError } from "#server/platform/errors";
import { readRecords } from "../csv-records";
import type { Row } from "./providers";

/**
 * A row of a file with its line, or that of its JSON document and its place there, both from 1; or from which
 * line on the file cannot be read, and why.
 */
export type FileRow = { line: number; entry?: number } & ({ row: Row } | { fault: string });

/** JSON is read as a whole. A CSV file has no limit: it is read as a stream. */
const jsonBytesMax = 256 * 1024 * 1024;

/** The rows of a JSON document: it is a list, or has one under one of these names. */
const Rows = z.union([
  z.array(z.unknown()),
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.object({ items: z.array(z.unknown()) }).transform(({ items }) => items),
  z.object({ Suppressions: z.array(z.unknown()) }).transform(({ Suppressions }) => Suppressions),
  z
    .object({ SuppressedDestinationSummaries: z.array(z.unknown()) })
    .transform(({ SuppressedDestinationSummaries }) => SuppressedDestinationSummaries),
  z
    .object({ SuppressedDestination: z.unknown() })
    .transform(({ SuppressedDestination }) => [SuppressedDestination]),
]);

/**
 * The rows of an export file: JSON if its first character is a bracket or a brace, otherwise CSV with a
 * heading. JSON documents may follow one another: one per line, or the joined output of several calls.
 * AppError if the file is not UTF-8.
 */
export async function* readRows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow> {
  const chunks = bytes[Symbol.asyncIterator]();
  const leading: Uint8Array[] = [];
  let start = "";
  while (start.trim() === "") {
    const { value, done } = await chunks.next();
    if (done) break;
    leading.push(value);
    start += new TextDecoder().decode(value);
  }
  const whole = (async function* () {
    yield* leading;
    yield* { [Symbol.asyncIterator]: () => chunks };
  })();
  if (/^\s*[[{]/.test(start)) yield* readDocuments(whole);
  else yield* readCsv(whole);
}

async function* readCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow> {
  let columns: string[] | undefined;
  let lines = 1;
  try {
    for await (const { record, line } of readRecords(bytes)) {
      lines = line + 1;
      if (columns === undefined) columns = record;
      else {
        const cells = columns.map((name, place) => [name, record[place] ?? ""] as const);
        yield { line, row: foldNames(Object.fromEntries(cells.filter(([, cell]) => cell !== ""))) };
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield {
      line: lines,
      fault: "The file is not valid CSV from here on, and the rest was not read. Check its quotation marks.",
    };
  }
}

async function* readDocuments(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > jsonBytesMax)
      throw new AppError(
        "invalid",
        `The JSON file is larger than ${jsonBytesMax / 1024 / 1024} MiB. Split it, or export CSV.`,
      );
  }
  const text = decode(Buffer.concat(chunks));
  let line = 1;
  for (const document of splitDocuments(text)) {
    const begins = document.search(/\S/);
    line += countLines(document.slice(0, begins));
    const read = parseRows(document);
    if ("fault" in read) yield { line, ...read };
    else
      for (const [place, row] of read.rows.entries()) yield { line, entry: place + 1, row: foldNames(row) };
    line += countLines(document.slice(begins));
  }
}

function parseRows(document: string): { rows: unknown[] } | { fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(document);
  } catch {
    return { fault: "This is not valid JSON." };
  }
  const { data: rows } = Rows.safeParse(value);
  return rows ? { rows } : { fault: "This document has no list of suppressions." };
}

const AnyRow = z.record(z.string(), z.unknown()).catch({});

/** Files and APIs write names differently. */
const foldNames = (row: unknown): Row =>
  Object.fromEntries(
    Object.entries(AnyRow.parse(row)).map(([name, value]) => [
      name.toLowerCase().replace(/[ _-]/g, ""),
      value,
    ]),
  );

/** Without a byte order mark. AppError if the bytes are not UTF-8: replaced characters would be imported. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("bad_json", "The file is not valid UTF-8. Encode it as UTF-8.", { cause });
  }
}

const countLines = (text: string): number => text.split("\n").length - 1;

/** Each document ends where as many braces and brackets are closed as were opened. */
function* splitDocuments(text: string): Generator<string> {
  const mark = /["{}[\]]/g;
  const quoteEnd = /(?:[^"\\]|\\.)*?"/gsy;
  let from = 0;
  let depth = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    if (found[0] === '"') {
      quoteEnd.lastIndex = mark.lastIndex;
      if (quoteEnd.exec(text) === null) break;
      mark.lastIndex = quoteEnd.lastIndex;
      continue;
    }
    depth += found[0] === "{" || found[0] === "[" ? 1 : -1;
    if (depth > 0) continue;
    yield text.slice(from, mark.lastIndex);
    from = mark.lastIndex;
    depth = 0;
  }
  if (text.slice(from).trim() !== "") yield text.slice(from);
}
