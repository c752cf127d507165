import { z } from "zod";

/** JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export type Schema = Record<string, unknown>;

/** Parts of the document by name, as they were met. */
export type Parts = Record<string, Schema>;
export type Components = { schemas: Parts; responses: Parts };

/** Its `format` says it; the expression is a page long. */
const FORMATS: ReadonlySet<unknown> = new Set(["uuid", "date", "date-time"]);

/**
 * What a schema lets in, as JSON Schema. Schemas with a name go into the components and are referred to. What a refinement asks
 * for cannot be said so, and stands in the refusal instead.
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
  // Every name of an object is a string.
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
