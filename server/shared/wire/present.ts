import type { z } from "zod";

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
