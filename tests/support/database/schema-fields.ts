import { z } from "zod";

/** A place in what a schema reads: `["template", "id"]`, `["to", 0]`. `schema` is what stands there, as it was declared. */
export type Field = { path: readonly (string | 0)[]; schema: z.ZodType };

/** Every place in what a schema of the wire reads, the outer ones first; of an array its first item stands for all. */
export function fieldsOf(schema: z.ZodType | undefined, path: Field["path"] = []): Field[] {
  if (!schema) return [];
  const here = path.length === 0 ? [] : [{ path, schema }];
  return [
    ...here,
    ...coresOf(schema).flatMap((core) => {
      if (core instanceof z.ZodObject)
        return Object.entries(core.shape).flatMap(([name, below]) =>
          fieldsOf(below as z.ZodType, [...path, name]),
        );
      return core instanceof z.ZodArray ? fieldsOf(core.element as z.ZodType, [...path, 0]) : [];
    }),
  ];
}

/** What a schema is once its wrappers are taken off: what may be absent, has a default, or is turned into something else. */
export function coresOf(schema: z.ZodType): z.ZodType[] {
  const inner = (within: unknown) => coresOf(within as z.ZodType);
  if (schema instanceof z.ZodPipe)
    // A preprocessing comes first and says nothing of what is wanted; a transformation comes last.
    return inner(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return inner(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(inner);
  return [schema];
}

/** `body` with `value` at that place; what is missing on the way is made. */
export function withField(body: unknown, path: Field["path"], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (name === 0) {
    const [first, ...others] = Array.isArray(body) ? body : [];
    return [withField(first, rest, value), ...others];
  }
  const fields = typeof body === "object" && body !== null && !Array.isArray(body) ? body : {};
  return { ...fields, [name]: withField((fields as Record<string, unknown>)[name], rest, value) };
}
