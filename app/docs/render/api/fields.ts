import { type ApiDocument, resolve, type Schema } from "./document";

/** A value as the reference shows it: its type, its limits, and the fields inside it. */
export type Shape = {
  type: string;
  description: string;
  limits: string[];
  values: string[];
  fields: Field[];
  /** The alternatives of a value that can have one of several sets of fields. */
  variants: Shape[];
};

export type Field = Shape & { name: string; isRequired: boolean };

const NAMES: Record<string, string> = {
  uuid: "UUID",
  "date-time": "time (ISO 8601)",
  date: "date",
  uri: "URL",
};
const PLURALS: Record<string, string> = {
  string: "strings",
  object: "objects",
  integer: "integers",
  number: "numbers",
  UUID: "UUIDs",
};

const number = (value: number): string => value.toLocaleString("en");

/** The shape of a schema. Every named schema is expanded in place. */
export function shapeOf(document: ApiDocument, given: Schema): Shape {
  const schema = resolve<Schema>(document, given as Schema & { $ref: string });
  const alternatives = schema.anyOf ?? schema.oneOf;
  const shapes = (alternatives ?? []).map((each) => shapeOf(document, each));
  const [first] = shapes;
  const withFields = shapes.filter(({ fields, variants }) => fields.length > 0 || variants.length > 0);
  const isChoice = withFields.length > 1;
  const items = schema.items ? shapeOf(document, schema.items) : null;
  const own = ownFieldsOf(document, schema);
  const inside = isChoice ? [] : (withFields[0]?.fields ?? []);
  return {
    type: alternatives ? joinTypes(shapes.map(({ type }) => type)) : typeOf(document, schema, items),
    description: schema.description ?? given.description ?? "",
    limits: [
      ...limitsOf(schema),
      ...(items ? items.limits.map((limit) => `Each: ${limit}`) : []),
      ...(shapes.length === 2 && first ? shapes.flatMap(({ limits }) => limits) : []),
    ].filter((limit, at, all) => all.indexOf(limit) === at),
    values: [...valuesOf(schema), ...(items?.values ?? []), ...shapes.flatMap(({ values }) => values)],
    fields: own.length > 0 ? own : (items?.fields ?? inside),
    variants: isChoice
      ? withFields.flatMap((each) => (each.variants.length > 0 ? each.variants : [each]))
      : (items?.variants ?? []),
  };
}

function ownFieldsOf(document: ApiDocument, { properties = {}, required = [] }: Schema): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    ...shapeOf(document, schema),
    name,
    isRequired: required.includes(name),
  }));
}

const joinTypes = (types: string[]): string => [...new Set(types)].join(" or ");

function typeOf(document: ApiDocument, schema: Schema, items: Shape | null): string {
  const { type, format, additionalProperties } = schema;
  if (schema.const !== undefined) return typeof schema.const;
  if (type === undefined) return schema.enum ? "string" : "any value";
  return joinTypes(
    [type].flat().map((each) => {
      if (each === "array") return items ? `array of ${PLURALS[items.type] ?? items.type}` : "array";
      if (each === "string") return NAMES[format ?? ""] ?? "string";
      if (each !== "object" || typeof additionalProperties !== "object" || schema.properties) return each;
      return `object of ${PLURALS[shapeOf(document, additionalProperties).type] ?? "values"} by name`;
    }),
  );
}

const rangeOf = (min: number | undefined, max: number | undefined, unit: string): string[] => {
  if (min !== undefined && max !== undefined)
    return [min === max ? `Exactly ${number(min)}${unit}.` : `${number(min)} to ${number(max)}${unit}.`];
  if (max !== undefined) return [`At most ${number(max)}${unit}.`];
  return min === undefined || min === 0 ? [] : [`At least ${number(min)}${unit}.`];
};

const limitsOf = (schema: Schema): string[] => [
  ...rangeOf(schema.minLength, schema.maxLength, " characters"),
  ...rangeOf(schema.minimum, schema.maximum, ""),
  ...rangeOf(schema.minItems, schema.maxItems, " items"),
  ...(schema.pattern === undefined ? [] : [`Pattern: \`${schema.pattern.replaceAll("`", "")}\``]),
  ...(schema.default === undefined ? [] : [`Default: \`${JSON.stringify(schema.default)}\`.`]),
];

const valuesOf = (schema: Schema): string[] =>
  schema.const === undefined ? (schema.enum ?? []).map(String) : [String(schema.const)];
