// Email content is untrusted. It must not contain terminal control sequences or change the direction of a line.
const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu;

/** Replaces control and bidirectional formatting characters in untrusted text. The result fits on one line. */
export const printable = (text: string): string => text.replace(CONTROL, " ");

/** Prints one line of the result to standard output. */
export function printLine(line = ""): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** Prints a note that is not part of the result to standard error. */
export function printNote(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** Prints the result as one JSON document. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints rows in aligned columns below their headings. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const clean = [headings, ...rows].map((row) => row.map(printable));
  const widths = headings.map((_, column) => Math.max(...clean.map((row) => (row[column] ?? "").length)));
  for (const row of clean)
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

/** A time in UTC to the second: `2026-01-31 12:00:00Z`. */
export const formatTime = (at: Date): string => `${at.toISOString().slice(0, 19).replace("T", " ")}Z`;
