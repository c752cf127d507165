import { CsvError } from "csv-parse";
import { AppError } from "#server/platform/errors";
import { readRecords } from "../suppressions/csv-records";

/**
 * A JSON document of a file, with the line on which it begins; or the line and the reason if it is not JSON.
 */
export type FileDocument = { line: number; value: unknown } | { line: number; fault: string };

/**
 * A row of a CSV file: its cells by their column names. Or the line and the reason from which on it cannot be
 * read.
 */
export type FileRow = { line: number; cells: Record<string, string> } | { line: number; fault: string };

export type FileContent =
  | { kind: "json"; documents: AsyncGenerator<FileDocument> }
  | { kind: "csv"; rows: AsyncGenerator<FileRow> };

/** JSON is read as a whole. A CSV file has no limit: it is read as a stream. */
const jsonBytesMax = 256 * 1024 * 1024;

/**
 * Opens a file of a provider: JSON if its first character is a bracket or a brace, otherwise CSV with a
 * heading.
 */
export async function openFile(bytes: AsyncIterable<Uint8Array>): Promise<FileContent> {
  const chunks = bytes[Symbol.asyncIterator]();
  const leading: Uint8Array[] = [];
  let start = "";
  while (start.trim() === "") {
    const { value, done } = await chunks.next();
    if (done) break;
    leading.push(value);
    start += new TextDecoder().decode(value);
  }
  const whole = async function* () {
    yield* leading;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  return /^\s*[[{]/.test(start)
    ? { kind: "json", documents: readDocuments(whole()) }
    : { kind: "csv", rows: readCsv(whole()) };
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
        yield { line, cells: Object.fromEntries(cells.filter(([, cell]) => cell !== "")) };
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

/**
 * Reads documents that follow one another: a single one, one per line, or the joined output of several calls.
 */
async function* readDocuments(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FileDocument> {
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
  for (const { from, to } of splitDocuments(text)) {
    const document = text.slice(from, to);
    const gap = /^\s*/.exec(document)?.[0] ?? "";
    line += countLines(gap);
    yield { line, ...parse(document) };
    line += countLines(document.slice(gap.length));
  }
}

/** Without a byte order mark. AppError if the bytes are not UTF-8: replaced characters would be imported. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("bad_json", "The file is not valid UTF-8. Encode it as UTF-8.", { cause });
  }
}

const countLines = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
};

function parse(text: string): { value: unknown } | { fault: string } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: "This is not valid JSON." };
  }
}

/** The places of the documents: each ends where as many braces and brackets are closed as were opened. */
function* splitDocuments(text: string): Generator<{ from: number; to: number }> {
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
    yield { from, to: mark.lastIndex };
    from = mark.lastIndex;
    depth = 0;
  }
  if (text.slice(from).trim() !== "") yield { from, to: text.length };
}
