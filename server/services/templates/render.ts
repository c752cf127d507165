import type { TemplateVariable } from "#db/schema/templates";
import { AppError } from "#server/platform/errors";
import { readTags } from "#server/shared/template-tags";
import type { TemplateVersion } from "#server/shared/wire/template";
import { Subject } from "../emails/accept/message-input";

export type VariableValues = Record<string, string | number>;

/** Maximum length of a filled-in field: several thousand placeholders could each insert a long value. */
const filledCharsMax = 5_000_000;
/** Maximum number of declared variables per template. */
export const variablesMax = 50;

/** Reads the tags of a field. Throws 422 with the reason for the first invalid one. */
export const parseTemplate = (field: string, source: string) =>
  readTags(source).map((tag) => {
    if (tag.kind === "fault") throw invalid(`\`${field}\`: ${tag.fault}`);
    return tag;
  });

const invalid = (message: string) => new AppError("invalid", message);

const ESCAPED: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** The text for the content or an attribute of an HTML element. */
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (char) => ESCAPED[char] ?? char);

/**
 * Inserts values. A value is text and is not parsed for tags. In HTML `{{x}}` is escaped and `{{{x}}}` is
 * not. `field` is named in the error if the result is too long.
 */
export function fillTemplate(
  field: string,
  source: string,
  values: Map<string, string>,
  as: "html" | "plain",
): string {
  let filled = "";
  let at = 0;
  for (const { from, to, key, kind } of parseTemplate(field, source)) {
    const value = values.get(key) ?? "";
    filled += source.slice(at, from) + (as === "html" && kind !== "raw" ? escapeHtml(value) : value);
    at = to;
    if (filled.length > filledCharsMax) break;
  }
  filled += source.slice(at);
  if (filled.length > filledCharsMax)
    throw invalid(
      `The filled-in \`${field}\` is longer than ${filledCharsMax.toLocaleString("en")} characters. Use shorter values.`,
    );
  return filled;
}

/** The variable names in a template's fields in order of first use. */
export const listKeys = (fields: Record<string, string | null>): string[] => [
  ...new Set(
    Object.entries(fields).flatMap(([field, source]) =>
      parseTemplate(field, source ?? "").map(({ key }) => key),
    ),
  ),
];

/**
 * The value of each declared variable: the caller's value, otherwise the fallback. An error lists every
 * missing or undeclared name, and names `field`, the request field that holds the values.
 */
export function resolveVariables(
  declared: readonly TemplateVariable[],
  given: VariableValues,
  field: string,
): Map<string, string> {
  const values = new Map<string, string>();
  const unknown = Object.keys(given).filter((key) => !declared.some((variable) => variable.key === key));
  if (unknown.length > 0)
    throw new AppError(
      "invalid",
      `Invalid \`${field}\`: the template does not declare ${quoted(unknown.slice(0, 10))}. Declared variables: ${quoted(declared.map((v) => v.key)) || "none"}.`,
    );
  const missing: string[] = [];
  for (const { key, type, fallbackValue } of declared) {
    const value = Object.hasOwn(given, key) ? given[key] : fallbackValue;
    if (value === null || value === undefined) missing.push(key);
    else if (type === "number" && typeof value !== "number")
      throw invalid(`Invalid \`${field}.${key}\`: it must be a number, as the template declares it.`);
    else values.set(key, String(value));
  }
  if (missing.length > 0)
    throw new AppError(
      "missing_field",
      `The template needs a value for ${quoted(missing)}: add it to \`${field}\` or declare a fallback.`,
    );
  return values;
}

const quoted = (keys: readonly string[]) => keys.map((key) => `\`${key.slice(0, 60)}\``).join(", ");

/** The content of a version with its placeholders filled in. */
export type FilledVersion = { subject: string | null; html: string; text: string | null };

/**
 * Fills in a version. An error names the missing variables and `field`, the request field that holds the
 * values. The filled-in subject must be valid for an email.
 */
export function fillVersion(
  version: Pick<TemplateVersion, "subject" | "html" | "text" | "variables">,
  given: VariableValues,
  field: string,
): FilledVersion {
  const values = resolveVariables(version.variables, given, field);
  const { subject, html, text } = version;
  return {
    subject: subject === null ? null : checkSubject(fillTemplate("subject", subject, values, "plain")),
    html: fillTemplate("html", html, values, "html"),
    text: text === null ? null : fillTemplate("text", text, values, "plain"),
  };
}

/** Throws 422 if the filled-in subject is invalid: a value may contain what a subject must not. */
export function checkSubject(subject: string): string {
  const read = Subject.safeParse(subject);
  if (!read.success)
    throw new AppError("invalid", `The filled-in \`subject\`: ${read.error.issues[0]?.message}`);
  return subject;
}
