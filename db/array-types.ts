/*
 * Arrays, for a driver that is told not to ask each new connection for the types there are. That question costs a round
 * trip, and when its connection breaks meanwhile nobody catches the failure, which ends the process.
 */

type Element = string | number | bigint | boolean | Date | Uint8Array | null;
type ArrayType = {
  to: number;
  from: number[];
  serialize(values: unknown): string;
  parse(text: string): unknown[];
};

const asIs = (text: string): string => text;
const asDate = (text: string): Date => new Date(text);

/** PostgreSQL's own array types by object id, which never change, and how one of their elements is read. */
const ELEMENTS: Readonly<Record<number, (text: string) => unknown>> = {
  199: JSON.parse,
  1000: (text) => text === "t",
  1001: (text) => Buffer.from(text.slice(2), "hex"),
  1005: Number,
  1007: Number,
  1009: asIs,
  1015: asIs,
  1016: asIs,
  1021: Number,
  1022: Number,
  1028: Number,
  1115: asDate,
  1182: asDate,
  1185: asDate,
  1231: asIs,
  2951: asIs,
  3807: JSON.parse,
};

/** The `types` of the driver that write and read arrays of one dimension. */
export const ARRAY_TYPES: Record<string, ArrayType> = Object.fromEntries(
  Object.entries(ELEMENTS).map(([name, read]) => {
    const oid = Number(name);
    return [
      `array${oid}`,
      { to: oid, from: [oid], serialize: writeArray, parse: (text) => readArray(text, read) },
    ];
  }),
);

/** An array as PostgreSQL reads it; what is a literal already is left alone. */
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
  return /["\\]/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`;
}

// An element is quoted, with backslashes before what would end it, or it is plain; only a plain NULL is no value.
const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/gs;

/** Reads PostgreSQL's text form of an array of one dimension. */
export function readArray<T>(text: string, read: (element: string) => T): (T | null)[] {
  return [...text.matchAll(ELEMENT)].map(([, quoted, plain]) => {
    if (quoted !== undefined) return read(quoted.replace(/\\(.)/gs, "$1"));
    return plain === undefined || plain === "NULL" ? null : read(plain);
  });
}
