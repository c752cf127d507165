import { z } from "zod";

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export type Schema = Record<string, unknown>;

/** Named parts of the document, in order of first use. */
export type Parts = Record<string, Schema>;
export type Components = { schemas: Parts; responses: Parts };

/** Formats that need no `pattern`: the regular expressions are very long. */
const FORMATS: ReadonlySet<unknown> = new Set(["uuid", "date", "date-time"]);

/**
 * The input of a zod schema as JSON Schema. Named schemas are added to the components and referenced. JSON
 * Schema cannot express refinements; the error message of a rejected request explains them.
 */
export function jsonSchemaOf(schema: z.ZodType, { schemas }: Components): Schema {
  const {
    $schema: _,
    $defs,
    ...made
  } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => tidy(jsonSchema as Schema),
  }) as Schema;
  for (const [name, part] of Object.entries(($defs ?? {}) as Parts))
    schemas[name] = pointToComponents(part) as Schema;
  return pointToComponents(made) as Schema;
}

function tidy(schema: Schema): void {
  if (FORMATS.has(schema.format)) delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The names of an object are always strings.
  delete schema.propertyNames;
  delete schema.id;
}

function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) =>
      name === "$ref" && typeof part === "string"
        ? [name, part.replace("#/$defs/", "#/components/schemas/")]
        : [name, pointToComponents(part)],
    ),
  );
}
