/*
 * Array types for the driver, whose own type query (`fetch_types`) is disabled. The query costs a round trip
 * for each new connection, and a connection loss during it causes an uncaught error, which ends the process.
 */

type Element = string | number | bigint | boolean | Date | Uint8Array | null;
type ArrayType = {
  to: number;
  from: number[];
  serialize(values: unknown): string;
  parse(text: string): unknown[];
};

/** PostgreSQL's built-in array types by object id (these never change), with the parser of an element. */
const ELEMENTS: readonly { read: (text: string) => unknown; oids: readonly number[] }[] = [
  { read: String, oids: [1009, 1015, 1016, 1231, 2951] },
  { read: Number, oids: [1005, 1007, 1021, 1022, 1028] },
  { read: (text) => text === "t", oids: [1000] },
  { read: (text) => new Date(text), oids: [1115, 1182, 1185] },
  { read: (text) => Buffer.from(text.slice(2), "hex"), oids: [1001] },
  { read: JSON.parse, oids: [199, 3807] },
];

/** The driver's `types` option: serializes and parses one-dimensional arrays. */
export const ARRAY_TYPES: Record<string, ArrayType> = Object.fromEntries(
  ELEMENTS.flatMap(({ read, oids }) =>
    oids.map((oid) => [
      `array${oid}`,
      { to: oid, from: [oid], serialize: writeArray, parse: arrayReader(read) },
    ]),
  ),
);

/** Serializes an array as a PostgreSQL literal. A value that is already a literal stays unchanged. */
export function writeArray(values: unknown): string {
  if (!Array.isArray(values)) return String(values);
  return `{${values.map((value: Element | undefined) => writeElement(value)).join()}}`;
}

function writeElement(value: Element | undefined): string {
  if (value === null) return "null";
  if (value === undefined) throw new TypeError("an array for the database has an undefined element");
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value === "boolean") return value ? "t" : "f";
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString("hex")}"`;
  if (!value.includes('"') && !value.includes("\\")) return `"${value}"`;
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

// An element is quoted, with backslash escapes, or plain. Only an unquoted NULL is null.
const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/gs;

/**
 * A function that parses PostgreSQL's text format of a one-dimensional array, whose elements `read` parses.
 */
function arrayReader<T>(read: (element: string) => T): (text: string) => (T | null)[] {
  return (text) =>
    [...text.matchAll(ELEMENT)].map(([, quoted, plain]) => {
      if (quoted !== undefined) return read(quoted.replace(/\\(.)/gs, "$1"));
      return plain === undefined || plain === "NULL" ? null : read(plain);
    });
}
