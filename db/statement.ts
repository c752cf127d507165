import type postgres from "postgres";
import type { HotSql } from "./client";

type Parameter = postgres.ParameterOrJSON<never>;

/** The SQL types of parameters, and the TypeScript type of each. */
type Values = {
  uuid: string;
  text: string;
  int: number;
  smallint: number;
  float8: number;
  bool: boolean;
  timestamptz: Date;
  jsonb: unknown;
  bytea: Uint8Array;
};
type Type = keyof Values;
type Value<T extends Type> = Values[T] | null | undefined;

/** The names of the row's properties whose value has this SQL type. */
type NameOf<Row, T extends Type> = { [K in keyof Row]: Row[K] extends Value<T> ? K : never }[keyof Row];

/**
 * The columns that a statement reads from an array of rows: name, type, and the property of the row or its
 * value.
 */
export type Columns<Row> = Readonly<
  Record<
    string,
    {
      [T in Type]: readonly [type: T, get: NameOf<Row, T> | ((row: Row, index: number) => Value<T>)];
    }[Type]
  >
>;

type RowOf<Rows> = Rows extends readonly (infer Row)[] ? Row : never;

export type Binder<Input> = {
  /** A derived table of the rows with this name: `from ${rows("emails", EMAIL)} as e`. */
  rows<Name extends keyof Input>(name: Name, columns: Columns<RowOf<Input[Name]>>): string;
  /** The value with this name, cast to its type. */
  value(name: keyof Input, type: Type): string;
};

/** Runs a statement that each connection prepares once; behind a transaction pooler it is not prepared. */
export const runPrepared = <Row extends object>(
  sql: Pick<HotSql, "unsafe">,
  text: string,
  parameters: Parameter[],
) => sql.unsafe<Row[]>(text, parameters, { prepare: true });

/**
 * Creates a statement with named parameters, and returns the function that runs it. Rows are sent as one
 * array per column and read with `unnest`, so one prepared statement works for any number of rows.
 * `undefined` is sent as null.
 */
export function writeStatement<Input, Row extends object = never>(write: (binder: Binder<Input>) => string) {
  const parameters: ((input: Input) => unknown)[] = [];
  const place = (read: (input: Input) => unknown): string => `$${parameters.push(read)}`;
  const text = write({
    rows(name, columns) {
      const sent = Object.entries(columns).map(([column, [type, get]]) => {
        const { sentAs = type, encode, read } = CODECS[type] ?? {};
        const parameter = place((input) =>
          (input[name] as readonly RowOf<Input[typeof name]>[]).map((row, index) => {
            const value = (typeof get === "function" ? get(row, index) : row[get]) ?? null;
            return value === null || !encode ? value : encode(value);
          }),
        );
        return { name: `"${column}"`, array: `${parameter}::${sentAs}[]`, read };
      });
      const select = sent.map(({ name: column, read }) => (read ? `${read(column)} as ${column}` : column));
      return `(select ${select.join(", ")} from unnest(${sent.map(({ array }) => array).join(", ")}) as sent(${namesOf(columns)}))`;
    },
    value: (name, type) => `${place((input) => input[name])}::${type}`,
  });
  return (sql: Pick<HotSql, "unsafe">, input: Input) =>
    sql.unsafe<Row[]>(
      text,
      parameters.map((read) => read(input) as Parameter),
      { prepare: true },
    );
}

/** The column names as a list for `insert into … (…)` and `select …`. */
export const namesOf = (columns: object): string =>
  Object.keys(columns)
    .map((name) => `"${name}"`)
    .join(", ");

type Codec = { sentAs?: string; encode?: (value: unknown) => unknown; read?: (column: string) => string };

// The driver derives the type of an array from a first element that is a boolean or a date, so these are sent
// as text. Arrays of JSON documents or bytes would have to be escaped twice, so both are sent as text, too.
const CODECS: Partial<Record<Type, Codec>> = {
  bool: { encode: String },
  timestamptz: { encode: (value) => (value as Date).toISOString() },
  jsonb: { sentAs: "text", encode: JSON.stringify, read: (column) => `${column}::jsonb` },
  bytea: {
    sentAs: "text",
    encode: (value) => Buffer.from(value as Uint8Array).toString("base64"),
    read: (column) => `decode(${column}, 'base64')`,
  },
};
