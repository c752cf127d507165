import type { VariableValues } from "#server/services/templates/render";
import { mergeVariables, optionalKeysIn, type VariableType } from "#server/shared/template-variables";
import { parseJson } from "#server/shared/text/parse-json";
import type { TemplateView } from "#server/trpc/templates/templates";

export type TemplateValue = VariableValues[string];

/**
 * A variable as the form holds it: the fallback is unvalidated text, which is JSON for a list or an object.
 */
export type VariableField = { key: string; type: VariableType; isRequired: boolean; fallback: string };

/**
 * The values in the editor. An empty field means no value. `text` is null if it is generated from the HTML,
 * and "" if the email has no text part.
 */
export type Fields = {
  subject: string;
  html: string;
  text: string | null;
  from: string;
  replyTo: string;
  variables: VariableField[];
};

/** The state that was last loaded from or saved to the server. */
export type Base = { revision: number; number: number; publishedNumber: number | null; fields: Fields };

type Content = Pick<TemplateView, "subject" | "html" | "text" | "from" | "reply_to"> & {
  variables: Omit<TemplateView["variables"][number], "created_at" | "updated_at">[];
};

/** Converts the content of a version to editor fields. */
export const fieldsOf = ({ subject, html, text, from, reply_to, variables }: Content): Fields => ({
  subject: subject ?? "",
  html,
  text,
  from: from ?? "",
  replyTo: (reply_to ?? []).join(", "),
  variables: variables.map(({ key, type, fallback_value }) => ({
    key,
    type,
    isRequired: fallback_value === null,
    fallback: typeof fallback_value === "object" ? formatJson(fallback_value) : String(fallback_value),
  })),
});

const formatJson = (value: object | null): string => (value === null ? "" : JSON.stringify(value));

export const baseOf = (template: TemplateView): Base => {
  const { revision, number, publishedNumber } = template;
  return { revision, number, publishedNumber, fields: fieldsOf(template) };
};

/** The variables that a save will declare. The server treats undeclared placeholders in the same way. */
export const effectiveVariables = ({ subject, html, text, variables }: Fields): VariableField[] =>
  mergeVariables(variables, [subject, html, text], {
    hasFallback: ({ isRequired }) => !isRequired,
    declare: (key, type) => ({ key, type, isRequired: true, fallback: "" }),
  });

/** The variables that each send must provide: they have no fallback, and `{{#if}}` does not check them. */
export function requiredVariables(fields: Fields): VariableField[] {
  const optional = optionalKeysIn(fields.subject, fields.html, fields.text);
  return effectiveVariables(fields).filter(({ key, isRequired }) => isRequired && !optional.has(key));
}

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Parses a number. Returns null for anything that is not a number or is too large to be transmitted exactly.
 */
export function parseNumber(text: string): number | null {
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed)) return null;
  const value = Number(trimmed);
  return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** What a value of this type must be, if any text is not valid. */
const VALUE_RULES: Record<VariableType, string | null> = {
  string: null,
  number: "Enter a number.",
  boolean: "Enter true or false.",
  list: 'Enter a list as JSON: ["a", "b"].',
  object: 'Enter an object as JSON: {"name": "Ann"}.',
};

/** Converts text to a value of this type. Null if it is not one. */
export function parseValue(type: VariableType, text: string): TemplateValue {
  if (type === "string") return text;
  if (type === "number") return parseNumber(text);
  if (type === "boolean") return /^(true|false)$/.test(text.trim()) ? text.trim() === "true" : null;
  const value = parseJson(text);
  const isFitting = typeof value === "object" && value !== null && Array.isArray(value) === (type === "list");
  return isFitting ? (value as TemplateValue) : null;
}

/** The error message for text that is not a value of this type, or null. */
export const faultOfValue = (type: VariableType, text: string): string | null =>
  parseValue(type, text) === null ? VALUE_RULES[type] : null;

/** The error message for an invalid fallback, or null. */
export const faultOfFallback = ({ type, isRequired, fallback }: VariableField): string | null =>
  isRequired ? null : faultOfValue(type, fallback);

/** Converts variables to API input. An invalid fallback becomes null. */
export const toVariableInput = (variables: readonly VariableField[]) =>
  variables.map(({ key, type, isRequired, fallback }) => ({
    key,
    type,
    fallbackValue: isRequired ? null : parseValue(type, fallback),
  }));

/** Sample values for the preview, by variable name. They are stored only in the user's browser. */
export type Samples = Record<string, string>;

/** Converts samples to variable values. Empty and invalid samples are omitted. */
export function valuesOf(
  variables: readonly VariableField[],
  samples: Samples,
): Record<string, TemplateValue> {
  const values: Record<string, TemplateValue> = {};
  for (const { key, type } of variables) {
    const sample = Object.hasOwn(samples, key) ? samples[key] : undefined;
    if (sample === undefined || sample === "") continue;
    const value = parseValue(type, sample);
    if (value !== null) values[key] = value;
  }
  return values;
}

/** Values as the form holds samples: lists and objects are JSON. */
export const samplesOf = (values: Record<string, TemplateValue>): Samples =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === "object" ? formatJson(value) : String(value),
    ]),
  );

const orNull = (text: string): string | null => text.trim() || null;

/** Converts the fields to API input. */
function toInput(fields: Fields) {
  const addresses = fields.replyTo.split(/[\n;]|,(?=[^"]*(?:"[^"]*"[^"]*)*$)/).map((part) => part.trim());
  const replyTo = addresses.filter(Boolean);
  return {
    subject: orNull(fields.subject),
    html: fields.html,
    text: fields.text,
    from: orNull(fields.from),
    replyTo: replyTo.length > 0 ? replyTo : null,
    variables: toVariableInput(effectiveVariables(fields)),
  };
}

export type Change = Partial<ReturnType<typeof toInput>>;

/** The changed fields, as input of a save. */
export function changeOf(before: Fields, now: Fields): Change {
  const [old, next] = [toInput(before), toInput(now)];
  return Object.fromEntries(
    Object.entries(next).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old]),
    ),
  );
}

/** Display names of the fields. */
export const FIELD_NAMES: Record<keyof Change, string> = {
  subject: "subject",
  html: "HTML",
  text: "text",
  from: "From",
  replyTo: "Reply to",
  variables: "variables",
};

/** Display names of the types of variables. */
export const TYPE_NAMES: Record<VariableType, string> = {
  string: "Text",
  number: "Number",
  boolean: "Boolean",
  list: "List",
  object: "Object",
};

/** "subject, HTML and variables". */
export const formatFieldNames = (change: Change): string =>
  new Intl.ListFormat("en-GB").format(
    (Object.keys(change) as (keyof Change)[]).map((name) => FIELD_NAMES[name]),
  ) || "nothing";

/** The format of an alias, as the server validates it. */
export const ALIAS_RULE = {
  value: /^$|^[a-z0-9][a-z0-9_-]{0,63}$/,
  message: "Use lowercase letters, digits, hyphens or underscores. Start with a letter or digit.",
};

/** Derives an alias from a name: "Welcome, dear Ann" becomes welcome-dear-ann. */
export const aliasOf = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{Mark}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-+|-+$/g, "");
