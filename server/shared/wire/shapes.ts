import { z } from "zod";

/** Schemas that the responses of all resources share, and how a row becomes a response. */

/** A UUID, version 7. */
export const Id = z.uuid();

/** ISO 8601 in UTC. */
export const Time = z.iso.datetime();

/** The response to a change. */
export const changed = <N extends string>(noun: N) => z.object({ object: z.literal(noun), id: Id });

/** The response to a deletion. */
export const deleted = <N extends string>(noun: N) =>
  z.object({ object: z.literal(noun), id: Id, deleted: z.literal(true) });

export const presentChanged = <N extends string>(object: N, { id }: { id: string }) => ({ object, id });

export const presentDeleted = <N extends string>(object: N, { id }: { id: string }) =>
  ({ object, id, deleted: true }) as const;

/** The list envelope. */
export const listOf = <T extends z.ZodType>(row: T) =>
  z.object({
    object: z.literal("list"),
    has_more: z.boolean().describe("Whether there are more rows after this page."),
    data: z.array(row),
  });

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type Wire<Value> = Value extends Date ? string : Value;

/** The fields of a response that the row does not have under their names, as values of the same type. */
type Others<Json, Row> = {
  [Name in keyof Json as Camel<Name> extends keyof Row
    ? Wire<Row[Camel<Name>]> extends Json[Name]
      ? never
      : Name
    : Name]: Json[Name];
};

const namesBySchema = new WeakMap<z.ZodObject, [name: string, column: string][]>();

function namesOf(schema: z.ZodObject): [name: string, column: string][] {
  const names =
    namesBySchema.get(schema) ??
    Object.keys(schema.shape).map((name): [string, string] => [
      name,
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    ]);
  namesBySchema.set(schema, names);
  return names;
}

/**
 * A row as a response with the fields of the schema: `created_at` is the column `createdAt`, and times are in
 * ISO 8601. `others` has the fields that the row does not have, or has in another form. An undefined field is
 * absent.
 */
export function present<Schema extends z.ZodObject, Row extends object>(
  schema: Schema,
  row: Row,
  others: Others<z.output<Schema>, Row> & Partial<z.output<Schema>>,
): z.output<Schema> {
  const given: Record<string, unknown> = others;
  const columns = row as Record<string, unknown>;
  const fields = namesOf(schema).map(([name, column]): [string, unknown] => {
    const value = name in given ? given[name] : columns[column];
    return [name, value instanceof Date ? value.toISOString() : value];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as z.output<Schema>;
}

type Snake<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Text;
export type Presented<T> = { [Name in keyof T & string as Snake<Name>]: Wire<T[Name]> };
export type WithIsoTimes<T> = T extends Date ? string : { [Name in keyof T]: WithIsoTimes<T[Name]> };

/** All fields of a row, with the names that they have in JSON: `updatedAt` is `updated_at`. */
export const presentRow = <T extends object>(row: T): Presented<T> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value instanceof Date ? value.toISOString() : value,
    ]),
  ) as Presented<T>;

/** The same value with its times in ISO 8601, at any depth. */
export function withIsoTimes<T>(value: T): WithIsoTimes<T>;
export function withIsoTimes(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(withIsoTimes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withIsoTimes(each)]));
}
