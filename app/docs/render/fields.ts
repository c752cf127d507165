import type { Schema } from "./openapi";

const NAMES: Record<string, string> = {
  uuid: "UUID",
  "date-time": "ISO 8601 time",
  date: "date",
  uri: "URL",
};

type Field = { name: string; schema: Schema; isRequired: boolean; description?: string; place?: string };

/** A field or parameter as an item of a Markdown list, with the fields inside it below. */
export function writeField(
  { name, schema, isRequired, description, place }: Field,
  isRequest: boolean,
  indent = "",
): string {
  const facts = [place, typeOf(schema), isRequired ? "required" : undefined];
  const about = description ?? schema.description ?? "";
  const texts = [about.replaceAll(/\s+/g, " "), ...limitsOf(schema)].filter((text) => text !== "");
  const line = `${indent}- \`${name}\` (${facts.filter(Boolean).join(", ")})`;
  const inside = writeFields(schema, isRequest, `${indent}  `);
  return [texts.length === 0 ? line : `${line}: ${texts.join(" ")}`, ...inside].join("\n");
}

/**
 * The fields of a value as lines of a Markdown list. Every named schema is expanded in place. A response has
 * all of its fields, so nothing in it is marked as required.
 */
export function writeFields(schema: Schema, isRequest: boolean, indent = ""): string[] {
  const { properties = {}, required = [], items, anyOf, oneOf } = schema;
  const own = Object.entries(properties).map(([name, field]) =>
    writeField({ name, schema: field, isRequired: isRequest && required.includes(name) }, isRequest, indent),
  );
  if (own.length > 0) return own;
  if (items) return writeFields(items, isRequest, indent);
  const choices = (anyOf ?? oneOf ?? []).filter((each) => writeFields(each, isRequest).length > 0);
  if (choices.length < 2) return choices.flatMap((each) => writeFields(each, isRequest, indent));
  return choices.flatMap((each, index) => [
    `${indent}- ${index === 0 ? "Either" : "Or"}${each.description ? `: ${each.description}` : ""}`,
    ...writeFields(each, isRequest, `${indent}  `),
  ]);
}

const joinTypes = (types: string[]): string => [...new Set(types)].join(" or ");

/** The type of a value in words: `array of strings`. */
export function typeOf(schema: Schema): string {
  const { type, format = "", additionalProperties, anyOf, oneOf, items } = schema;
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return joinTypes(alternatives.map(typeOf));
  if (schema.const !== undefined) return typeof schema.const;
  if (type === undefined) return schema.enum ? "string" : "any value";
  return joinTypes(
    [type].flat().map((each) => {
      if (each === "array") return items ? `array of ${typeOf(items)}s` : "array";
      if (each === "string") return NAMES[format] ?? "string";
      if (each !== "object" || typeof additionalProperties !== "object" || schema.properties) return each;
      return `object of ${typeOf(additionalProperties)}s by name`;
    }),
  );
}

const number = (value: number): string => value.toLocaleString("en");

const rangeOf = (min: number | undefined, max: number | undefined, unit: string): string[] => {
  if (min !== undefined && max !== undefined)
    return [min === max ? `Exactly ${number(min)}${unit}.` : `${number(min)} to ${number(max)}${unit}.`];
  if (max !== undefined) return [`At most ${number(max)}${unit}.`];
  return min === undefined || min === 0 ? [] : [`At least ${number(min)}${unit}.`];
};

/** The limits and the allowed values of a value, as sentences. */
function limitsOf(schema: Schema): string[] {
  const alternatives = schema.anyOf ?? schema.oneOf ?? [];
  const values = schema.const === undefined ? (schema.enum ?? []) : [schema.const];
  const limits = [
    ...rangeOf(schema.minLength, schema.maxLength, " characters"),
    ...rangeOf(schema.minimum, schema.maximum, ""),
    ...rangeOf(schema.minItems, schema.maxItems, " items"),
    ...(schema.pattern === undefined ? [] : [`Pattern: \`${schema.pattern.replaceAll("`", "")}\`.`]),
    ...(schema.default === undefined ? [] : [`Default: \`${JSON.stringify(schema.default)}\`.`]),
    ...(values.length === 0 ? [] : [`One of ${values.map((value) => `\`${value}\``).join(", ")}.`]),
    ...(schema.items ? limitsOf(schema.items).map((limit) => `Each: ${limit}`) : []),
    ...alternatives.flatMap(limitsOf),
  ];
  return [...new Set(limits)];
}
