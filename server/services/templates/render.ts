import Mustache from "mustache";
import type { TemplateVariable } from "#db/schema/templates";
import { AppError } from "#server/errors";

export type VariableValues = Record<string, string | number>;

/** A piece of a template: literal text, or a placeholder whose value may or may not be escaped in HTML. */
type Piece = { text: string } | { key: string; raw: boolean };

const KEY = /^[A-Za-z0-9_]{1,50}$/;
const RESERVED = new Set([
  "FIRST_NAME",
  "LAST_NAME",
  "EMAIL",
  "UNSUBSCRIBE_URL",
  "RESEND_UNSUBSCRIBE_URL",
  "contact",
  "this",
]);
const piecesMax = 10_000;

/** Why a word cannot be the name of a placeholder, or null. */
export function faultOfKey(key: string): string | null {
  if (!KEY.test(key))
    return `"${key.slice(0, 60)}" is no variable name: use letters, digits and _, at most 50.`;
  if (RESERVED.has(key)) return `"${key}" is reserved. Choose another variable name.`;
  return null;
}

/**
 * Reads a template's text into pieces. Of Mustache only the variable tags are allowed, `{{x}}` and `{{{x}}}`; sections,
 * partials, comments and changed delimiters are refused by name, so that a template can do nothing but show values.
 */
export function parseTemplate(field: string, source: string): Piece[] {
  let tokens: Mustache.TemplateSpans;
  try {
    tokens = Mustache.parse(source) as Mustache.TemplateSpans;
  } catch (cause) {
    throw new AppError(
      "invalid",
      `\`${field}\` has an unclosed or broken {{tag}}: write {{name}} or {{{name}}}.`,
      { cause },
    );
  }
  if (tokens.length > piecesMax)
    throw new AppError("invalid", `\`${field}\` has more than ${piecesMax} pieces.`);
  return tokens.map(([kind, value]) => {
    if (kind === "text") return { text: value };
    if (kind !== "name" && kind !== "&")
      throw new AppError(
        "invalid",
        `\`${field}\` uses {{${kind}${value.slice(0, 40)}}}. Only {{name}} and {{{name}}} are allowed.`,
      );
    const fault = faultOfKey(value);
    if (fault) throw new AppError("invalid", `\`${field}\`: ${fault}`);
    return { key: value, raw: kind === "&" };
  });
}

const ESCAPED: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (char) => ESCAPED[char] ?? char);

/** Puts values in. A value is text and is never read for tags again. In HTML `{{x}}` is escaped and `{{{x}}}` is not. */
export function fillTemplate(pieces: Piece[], values: Map<string, string>, as: "html" | "plain"): string {
  return pieces
    .map((piece) => {
      if ("text" in piece) return piece.text;
      const value = values.get(piece.key) ?? "";
      return as === "html" && !piece.raw ? escapeHtml(value) : value;
    })
    .join("");
}

/** The placeholders of a template's fields, in the order of first use, as declared variables without fallback. */
export function inferVariables(fields: Record<string, string | null>): TemplateVariable[] {
  const keys = new Set<string>();
  for (const [field, source] of Object.entries(fields))
    for (const piece of source === null ? [] : parseTemplate(field, source))
      if ("key" in piece) keys.add(piece.key);
  return [...keys].map((key) => ({ key, type: "string", fallbackValue: null }));
}

/**
 * The value of each declared variable: what the caller gave, else the fallback. What is missing, mistyped or not
 * declared is named in one error.
 */
export function resolveVariables(
  declared: readonly TemplateVariable[],
  given: VariableValues,
): Map<string, string> {
  const values = new Map<string, string>();
  const unknown = Object.keys(given).filter((key) => !declared.some((variable) => variable.key === key));
  if (unknown.length > 0)
    throw new AppError(
      "invalid",
      `The template has no variable ${quoted(unknown)}. It has: ${quoted(declared.map((v) => v.key)) || "none"}.`,
    );
  const missing: string[] = [];
  for (const { key, type, fallbackValue } of declared) {
    const value = Object.hasOwn(given, key) ? given[key] : fallbackValue;
    if (value === null || value === undefined) missing.push(key);
    else if (type === "number" && typeof value !== "number")
      throw new AppError("invalid", `Variable \`${key}\` must be a number.`);
    else values.set(key, String(value));
  }
  if (missing.length > 0)
    throw new AppError(
      "missing_field",
      `The template needs a value for ${quoted(missing)}: give it in \`template.variables\` or declare a fallback.`,
    );
  return values;
}

const quoted = (keys: readonly string[]) => keys.map((key) => `\`${key}\``).join(", ");
