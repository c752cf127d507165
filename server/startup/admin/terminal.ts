import type { onStopSignals } from "../launcher/signals";

// Email content is untrusted. It must not contain terminal control sequences or change the direction of a
// line.
const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** What a command has of its process: environment, streams and stop signals. */
export type Terminal = {
  /** The settings of `.env` files are added to it. */
  env: Record<string, string | undefined>;
  /** Standard input, to its end. */
  readInput(): Promise<string>;
  /** Asks for a text that is not displayed. Absent if standard input is not a terminal. */
  askSecret?(question: string): Promise<string>;
  write(text: string): void;
  writeError(text: string): void;
  onStopSignals: typeof onStopSignals;
};

/** What a command returns. */
export type Output = {
  /** The document that `--json` prints. */
  json: object;
  /** What is printed without `--json`: lines, and objects as their fields. Default: the document. */
  text?: readonly (string | object)[];
  /** Lines that are not part of the result, on standard error. */
  notes?: readonly string[];
  /** That of the process, if it is not 0. */
  exitCode?: number;
};

/** The result of a command: its document, and what is printed without `--json`. */
export const output = (json: object, ...text: (string | object)[]): Output => ({
  json,
  ...(text.length > 0 && { text }),
});

/** Prints the result of a command to standard output, and its notes to standard error. */
export function printOutput(
  terminal: Terminal,
  { json, text = [json], notes = [] }: Output,
  isJson: boolean,
): void {
  const lines = isJson
    ? [JSON.stringify(json, null, 2)]
    : text.flatMap((part) => (typeof part === "string" ? [part] : formatObject(part))).map(printable);
  terminal.write(lines.map((line) => `${line}\n`).join(""));
  for (const note of notes) terminal.writeError(`${printable(note)}\n`);
}

/**
 * A list: rows in aligned columns below the names of their fields, or a note if there are none. The columns
 * are all fields, some of them, or those of a function.
 */
export function listOutput<T extends object>(
  data: readonly T[],
  empty: string,
  columns: readonly (keyof T & string)[] | ((item: T) => Record<string, unknown>) = (item) =>
    item as Record<string, unknown>,
): Output {
  const rowOf =
    typeof columns === "function"
      ? columns
      : (item: T) => Object.fromEntries(columns.map((name) => [name, item[name]]));
  return {
    json: { data },
    text: formatTable(data.map(rowOf)),
    notes: data.length === 0 ? [empty] : [],
  };
}

/** Rows in aligned columns below the names of their fields. */
export function formatTable(rows: readonly Record<string, unknown>[]): string[] {
  if (rows[0] === undefined) return [];
  const headings = Object.keys(rows[0]).map((name) => name.replaceAll("_", " ").toUpperCase());
  const cells = [headings, ...rows.map((row) => Object.values(row).map(formatValue))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/**
 * The fields of an object, one per line. Nested objects and lists of objects are indented below their name.
 */
function formatObject(value: object, indent = "  "): string[] {
  const fields = Object.entries(value).map(([name, field]) => [labelOf(name), field] as const);
  const width = Math.max(...fields.map(([label, field]) => (isNested(field) ? 0 : label.length)));
  return fields.flatMap(([label, field]) => {
    if (!isNested(field)) return [`${indent}${label.padEnd(width)}  ${formatValue(field) || "none"}`];
    const items = (Array.isArray(field) ? field : [field]).map((item) => formatObject(item, `${indent}  `));
    return [
      "",
      `${indent}${label}`,
      ...items.flatMap((lines, place) => (place > 0 ? ["", ...lines] : lines)),
    ];
  });
}

const isNested = (field: unknown): boolean =>
  typeof field === "object" &&
  field !== null &&
  !(field instanceof Date) &&
  (Array.isArray(field) ? field.some(isNested) : Object.keys(field).length > 0);

const labelOf = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(formatValue).join(", ");
  if (value instanceof Date) return formatTime(value);
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, count]) => `${name} ${formatValue(count)}`)
      .join(", ");
  if (typeof value === "string") return printable(ISO_TIME.test(value) ? formatTime(new Date(value)) : value);
  return String(value);
}

/**
 * Replaces control and bidirectional formatting characters in untrusted text. The result fits on one line.
 */
const printable = (text: string): string => text.replace(CONTROL, " ");

/** A time in UTC to the second: `2026-01-31 12:00:00Z`. */
const formatTime = (at: Date): string => `${at.toISOString().slice(0, 19).replace("T", " ")}Z`;
