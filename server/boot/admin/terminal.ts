// Mail is written by strangers: nothing of it may steer the terminal or turn the direction of a line.
const STEERING = /[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu;

/** Text of others, made fit for one line of a terminal. */
export const printable = (text: string): string => text.replace(STEERING, " ");

/** A line of the result. */
export function say(line = ""): void {
  process.stdout.write(`${printable(line)}\n`);
}

/** A remark that is no part of the result. */
export function remark(line: string): void {
  process.stderr.write(`${printable(line)}\n`);
}

/** The result as one JSON document, for programs. */
export function sayJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Rows under their headings, in columns. */
export function sayTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const clean = [headings, ...rows].map((row) => row.map(printable));
  const widths = headings.map((_, column) => Math.max(...clean.map((row) => (row[column] ?? "").length)));
  for (const row of clean)
    say(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

/** A time in UTC to the second: `2026-01-31 12:00:00Z`. */
export const formatTime = (at: Date): string => `${at.toISOString().slice(0, 19).replace("T", " ")}Z`;
