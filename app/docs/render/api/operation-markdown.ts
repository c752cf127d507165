import {
  type ApiSource,
  errorsOf,
  type Parameter,
  type PlacedOperation,
  parametersIn,
  successesOf,
} from "./document";
import { exampleOf, jsonOf } from "./examples";
import { type Field, type Shape, shapeOf } from "./fields";

export const fence = (text: string, language: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

/** An operation as Markdown, with the same content as its HTML. */
export function writeOperation(
  { document, errors }: ApiSource,
  operation: PlacedOperation,
  given: Record<string, unknown>,
): string {
  const { method, path, summary, description, requestBody } = operation;
  const placed = (["path", "query", "header"] as const).flatMap((place) =>
    parametersIn(document, operation, place).map((parameter) => writeParameter(document, parameter)),
  );
  const [type = "", content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body = shapeOf(document, content?.schema ?? {});
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    ...(placed.length === 0 ? [] : ["### Parameters", placed.join("\n")]),
    ...(requestBody ? ["### Body", `\`${type}\`: ${body.type}`, writeInside(body, "")] : []),
    ...successesOf(document, operation).flatMap(([status, { content: own = {} }]) => {
      const [responseType = "", { schema = {} } = {}] = Object.entries(own)[0] ?? [];
      return [
        `### Response ${status}`,
        `\`${responseType}\``,
        writeInside(optional(shapeOf(document, schema)), ""),
        ...(responseType === "application/json"
          ? [fence(jsonOf(exampleOf(document, schema, given)), "json")]
          : []),
      ];
    }),
    "### Errors",
    errorsOf(errors, operation)
      .map(({ status, name, reason }) => `- ${status} \`${name}\`: ${reason}`)
      .join("\n"),
    "### Samples",
    ...operation["x-codeSamples"].map(({ label, lang, source }) => `${label}:\n\n${fence(source, lang)}`),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** A response has all of its fields, so nothing is required of a caller. */
const optional = (shape: Shape): Shape => ({
  ...shape,
  fields: shape.fields.map((field) => ({ ...field, ...optional(field), isRequired: false })),
  variants: shape.variants.map(optional),
});

const writeParameter = (
  document: ApiSource["document"],
  { name, in: place, required, description, schema }: Parameter,
): string => {
  const shape = shapeOf(document, schema);
  return writeField(
    { ...shape, name, isRequired: required, description: description ?? shape.description },
    "",
    `${place}, `,
  );
};

function writeField(field: Field, indent: string, note = ""): string {
  const { name, type, isRequired, description, limits, values } = field;
  const facts = `${note}${type}${isRequired ? ", required" : ""}`;
  const valueList =
    values.length === 0 ? [] : [`One of ${values.map((value) => `\`${value}\``).join(", ")}.`];
  const texts = [description, ...limits, ...valueList].filter((text) => text !== "");
  const line = `${indent}- \`${name}\` (${facts})${texts.length === 0 ? "" : `: ${texts.join(" ")}`}`;
  const inside = writeInside(field, `${indent}  `);
  return inside === "" ? line : `${line}\n${inside}`;
}

/** The fields inside a value as a list. */
export const writeInside = ({ fields, variants }: Shape, indent: string): string =>
  [
    ...fields.map((field) => writeField(field, indent)),
    ...variants.map(
      (variant, index) =>
        `${indent}- ${index === 0 ? "Either" : "Or"}${variant.description ? `: ${variant.description}` : ""}\n${writeInside(variant, `${indent}  `)}`,
    ),
  ].join("\n");
