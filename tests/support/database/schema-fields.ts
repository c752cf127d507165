import { z } from "zod";

/** A field that a schema reads: `["template", "id"]`, `["to", 0]`. `schema` is its declared schema. */
export type Field = { path: readonly (string | 0)[]; schema: z.ZodType };

/** Every field that a schema reads, outer ones first. The first item of an array represents all of them. */
export function fieldsOf(schema: z.ZodType | undefined, path: Field["path"] = []): Field[] {
  if (!schema) return [];
  const here = path.length === 0 ? [] : [{ path, schema }];
  return [
    ...here,
    ...unwrapSchema(schema).flatMap((core) => {
      if (core instanceof z.ZodObject)
        return Object.entries(core.shape).flatMap(([name, below]) =>
          fieldsOf(below as z.ZodType, [...path, name]),
        );
      return core instanceof z.ZodArray ? fieldsOf(core.element as z.ZodType, [...path, 0]) : [];
    }),
  ];
}

/** The schemas inside the wrappers for optional, default and transformed values. */
export function unwrapSchema(schema: z.ZodType): z.ZodType[] {
  const inner = (within: unknown) => unwrapSchema(within as z.ZodType);
  if (schema instanceof z.ZodPipe)
    // In a preprocessing pipe the first part does not describe the input; in a transformation the last one
    // does not.
    return inner(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return inner(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(inner);
  return [schema];
}

/** `body` with `value` at that path; missing objects and arrays on the way are created. */
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
