import type { TemplateValue, TemplateVariable } from "#db/schema/templates";
import { AppError, invalidField } from "#server/platform/errors";
import { namesInLists, optionalKeysIn } from "#server/shared/template-variables";
import type { TemplateVersion } from "#server/shared/wire/template";
import { Subject } from "../fields";
import { fillTemplate, type Missing } from "./fill-template";

/** Values by variable name. */
export type VariableValues = Record<string, TemplateValue>;

type Content = Pick<TemplateVersion, "subject" | "html" | "text" | "variables">;

const invalid = (message: string) => new AppError("invalid", message);

/** Maximum number of declared variables per template. */
export const variablesMax = 50;

/**
 * The value of each declared variable: the caller's value, otherwise the fallback; none for a variable that
 * the content checks with `{{#if}}`. Names that the content uses in lists need not be declared. An error
 * lists every missing or undeclared name, and names `field`, the request field that holds the values.
 */
export function resolveVariables(
  { subject, html, text, variables: declared }: Content,
  given: VariableValues,
  field: string,
): Map<string, TemplateValue> {
  const values = new Map<string, TemplateValue>();
  let unknown = Object.keys(given).filter((key) => !declared.some((variable) => variable.key === key));
  if (unknown.length > 0) {
    const inLists = namesInLists(subject, html, text);
    for (const key of unknown) if (inLists.has(key)) values.set(key, given[key] ?? null);
    unknown = unknown.filter((key) => !inLists.has(key));
  }
  if (unknown.length > 0)
    throw invalidField(
      field,
      `the template does not declare ${quoted(unknown.slice(0, 10))}. Declared variables: ${quoted(declared.map((v) => v.key)) || "none"}.`,
    );
  const absent: string[] = [];
  for (const { key, type, fallbackValue } of declared) {
    const value = (Object.hasOwn(given, key) ? given[key] : null) ?? fallbackValue;
    if (value === null || value === undefined) absent.push(key);
    else if (!isOfType(value, type))
      throw invalid(
        `Invalid \`${field}.${key}\`: it must be ${TYPE_WORDS[type]}, as the template declares it.`,
      );
    else values.set(key, value);
  }
  if (absent.length === 0) return values;
  const optional = optionalKeysIn(subject, html, text);
  const missing = absent.filter((key) => !optional.has(key));
  if (missing.length > 0) throw missingValues(missing, field);
  return values;
}

const missingValues = (names: readonly string[], field: string) =>
  new AppError(
    "missing_field",
    `The template needs a value for ${quoted(names)}: add it to \`${field}\` or declare a fallback.`,
  );

const TYPE_WORDS: Record<TemplateVariable["type"], string> = {
  string: "a string, a number, true or false",
  number: "a number",
  boolean: "true or false",
  list: "a list",
  object: "an object",
};

/** A variable that is declared as a string also takes numbers, true and false. */
export function isOfType(value: TemplateValue, type: TemplateVariable["type"]): boolean {
  if (Array.isArray(value)) return type === "list";
  if (typeof value === "object") return type === "object" && value !== null;
  return type === "string" || type === typeof value;
}

const quoted = (keys: readonly string[]) => keys.map((key) => `\`${key.slice(0, 60)}\``).join(", ");

/** The content of a version with its placeholders filled in. */
export type FilledVersion = { subject: string | null; html: string; text: string | null };

/**
 * Fills in a version. An error names the missing variables and `field`, the request field that holds the
 * values. The filled-in subject must be valid for an email; `ownSubject` replaces it, which is then not
 * filled in.
 */
export function fillVersion(
  version: Content,
  given: VariableValues,
  field: string,
  ownSubject: string | null = null,
): FilledVersion {
  const values = resolveVariables(version, given, field);
  const missing: Missing = {
    value: (name) => {
      throw missingValues([name], field);
    },
    list: (name) => {
      throw missingValues([name], field);
    },
  };
  const { subject, html, text } = version;
  return {
    subject:
      ownSubject ??
      (subject === null ? null : checkSubject(fillTemplate("subject", subject, values, "plain", missing))),
    html: fillTemplate("html", html, values, "html", missing),
    text: text === null ? null : fillTemplate("text", text, values, "plain", missing),
  };
}

/** Throws 422 if the filled-in subject is invalid: a value may contain what a subject must not. */
export function checkSubject(subject: string): string {
  const read = Subject.safeParse(subject);
  if (!read.success)
    throw new AppError("invalid", `The filled-in \`subject\`: ${read.error.issues[0]?.message}`);
  return subject;
}
