import { stringify } from "csv-stringify/sync";

/** What programs that calculate take for the beginning of a formula, with the marks that say it is none. */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** A cell that a program which calculates shows and does not compute. */
export const defuseCell = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** The cell that was defused. */
export const restoreCell = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;

/** A column of an export: its name in the first line, and what of a row stands in it. Times are ISO 8601. */
export type CsvColumn<Row> = {
  name: string;
  of: (row: Row) => string | number | boolean | Date | null | undefined;
};

const WRITING = {
  record_delimiter: "windows",
  cast: {
    string: defuseCell,
    boolean: String,
    date: (date: Date) => date.toISOString(),
  },
} as const;

/** The first line of an export. */
export const csvHead = <Row>(columns: readonly CsvColumn<Row>[]): string =>
  stringify([columns.map(({ name }) => name)], WRITING);

/** Rows as lines of CSV (RFC 4180) in which no cell is a formula. */
export const csvLines = <Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string =>
  stringify(
    rows.map((row) => columns.map(({ of }) => of(row) ?? null)),
    WRITING,
  );

/** A whole export, written as fast as it is taken and no faster: one piece for each batch of rows. */
export async function* writeCsv<Row>(
  columns: readonly CsvColumn<Row>[],
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  yield csvHead(columns);
  for await (const rows of batches) if (rows.length > 0) yield csvLines(columns, rows);
}
