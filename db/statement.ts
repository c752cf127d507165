import { getTableColumns, type Table } from "drizzle-orm";
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
        const { sentAs = `${type}[]`, encode, send, unpack, read } = CODECS[type] ?? {};
        const parameter = place((input) => {
          const values = (input[name] as readonly RowOf<Input[typeof name]>[]).map((row, index) => {
            const value = (typeof get === "function" ? get(row, index) : row[get]) ?? null;
            return value === null || !encode ? value : encode(value);
          });
          return send ? send(values) : values;
        });
        const sentValue = `${parameter}::${sentAs}`;
        return { name: `"${column}"`, array: unpack ? unpack(sentValue) : sentValue, read };
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

const SHORT_TYPES: Readonly<Record<string, Type>> = {
  boolean: "bool",
  "timestamp with time zone": "timestamptz",
};

/** All columns of a table, from rows whose properties have the names of its schema. */
export function columnsOf<Row>(table: Table): Columns<Row> {
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const type = column.getSQLType();
    return [snakeCase(name), [SHORT_TYPES[type] ?? type, name]];
  });
  return Object.fromEntries(columns) as Columns<Row>;
}

/** `list_unsubscribe` for `listUnsubscribe`: the name of a column, and of a field of the API. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The column names as a list for `insert into … (…)` and `select …`. */
export const namesOf = (columns: object): string =>
  Object.keys(columns)
    .map((name) => `"${name}"`)
    .join(", ");

type Codec = {
  /** Default: an array of the type. */
  sentAs?: string;
  encode?: (value: unknown) => unknown;
  /** Makes one parameter of the encoded values, and `unpack` an array of it in SQL. */
  send?: (values: unknown[]) => unknown;
  unpack?: (parameter: string) => string;
  read?: (column: string) => string;
};

// The driver derives the type of an array from a first element that is a boolean or a date, so these are sent
// as text. Arrays of JSON documents would have to be escaped twice, so they are sent as text, too. Bytes are
// sent as one text: the driver looks for characters to escape in each element of an array, which holds the
// thread for tenths of a second for a large file. There, null is nothing, and no bytes are a space, which
// base64 ignores.
const CODECS: Partial<Record<Type, Codec>> = {
  bool: { encode: String },
  timestamptz: { encode: (value) => (value as Date).toISOString() },
  jsonb: { sentAs: "text[]", encode: JSON.stringify, read: (column) => `${column}::jsonb` },
  bytea: {
    sentAs: "text",
    encode: (value) => base64Of(value as Uint8Array) || " ",
    send: (values) => values.join(","),
    unpack: (parameter) => `string_to_array(${parameter}, ',', '')`,
    read: (column) => `decode(${column}, 'base64')`,
  },
};

const base64Of = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");
