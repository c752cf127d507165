import { stringify } from "csv-stringify/sync";
import { defuseCell } from "#server/shared/text/csv-cell";

/** A column of an export: its header and its value for a row. Times are written in ISO 8601. */
export type CsvColumn<Row> = {
  name: string;
  of: (row: Row) => string | number | boolean | Date | null | undefined;
};

const OPTIONS = {
  record_delimiter: "windows",
  cast: {
    string: defuseCell,
    boolean: String,
    date: (date: Date) => date.toISOString(),
  },
} as const;

/** The header line of an export. */
export const csvHead = <Row>(columns: readonly CsvColumn<Row>[]): string =>
  stringify([columns.map(({ name }) => name)], OPTIONS);

/** Rows as lines of CSV (RFC 4180), with formulas escaped. */
export const csvLines = <Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string =>
  stringify(
    rows.map((row) => columns.map(({ of }) => of(row) ?? null)),
    OPTIONS,
  );

/**
 * Streams an export, one chunk for each batch of rows. A batch is read only when the consumer requests it.
 */
export async function* writeCsv<Row>(
  columns: readonly CsvColumn<Row>[],
  batches: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  yield csvHead(columns);
  for await (const rows of batches) if (rows.length > 0) yield csvLines(columns, rows);
}
