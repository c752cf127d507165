import Mustache from "mustache";
import type { TemplateVariable } from "#db/schema/templates";
import { AppError } from "#server/platform/errors";

export type VariableValues = Record<string, string | number>;

/** A part of a template: literal text, or a placeholder. A `raw` value is not escaped in HTML. */
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
/** Limits: placeholders per field, and characters per tag, including spaces and braces. */
const tagsMax = 5_000;
const tagCharsMax = 200;
/** Maximum length of a filled-in field: several thousand placeholders could each insert a long value. */
const filledCharsMax = 5_000_000;
/** Maximum number of declared variables per template. */
export const variablesMax = 50;

/** Returns why a word is not a valid variable name, or null. */
export function faultOfKey(key: string): string | null {
  if (!KEY.test(key))
    return `"${key.slice(0, 60)}" is not a valid variable name: use letters, digits and _, at most 50.`;
  if (RESERVED.has(key)) return `"${key}" is reserved. Choose another variable name.`;
  return null;
}

/**
 * Parses a template field into pieces. Only Mustache variable tags are allowed, `{{x}}` and `{{{x}}}`.
 * Sections, partials, comments and changed delimiters are rejected by name: a template can only insert
 * values. Mustache parses only the tags: on text its parser creates an array per character, and on spaces it
 * is quadratic.
 */
export function parseTemplate(field: string, source: string): Piece[] {
  const pieces: Piece[] = [];
  // One writer per call, because a writer caches every tag that it has parsed.
  const mustache = new Mustache.Writer();
  let tags = 0;
  let at = 0;
  for (let open = source.indexOf("{{"); open !== -1; open = source.indexOf("{{", at)) {
    const closing = source.startsWith("{{{", open) ? "}}}" : "}}";
    // The search ends at the maximum tag length, so text full of braces is scanned once, not once per brace.
    const end = source.slice(open, open + tagCharsMax).indexOf(closing);
    if (end === -1)
      throw invalid(
        `\`${field}\` has an unclosed tag at character ${open + 1}. Write {{name}} or {{{name}}}, at most ${tagCharsMax} characters.`,
      );
    if (++tags > tagsMax) throw invalid(`\`${field}\` has more than ${tagsMax} placeholders. Use fewer.`);
    if (open > at) pieces.push({ text: source.slice(at, open) });
    at = open + end + closing.length;
    pieces.push(readTag(mustache, field, source.slice(open, at)));
  }
  if (at < source.length) pieces.push({ text: source.slice(at) });
  return pieces;
}

function readTag(mustache: Mustache.Writer, field: string, tag: string): Piece {
  const isRaw = tag.startsWith("{{{");
  let tokens: Mustache.TemplateSpans;
  try {
    tokens = mustache.parse(tag) as Mustache.TemplateSpans;
  } catch (cause) {
    throw invalid(onlyVariables(field, tag), { cause });
  }
  const [token, ...others] = tokens;
  const [kind, key] = token ?? [];
  if (!key || others.length > 0 || kind !== (isRaw ? "&" : "name")) throw invalid(onlyVariables(field, tag));
  const fault = faultOfKey(key);
  if (fault) throw invalid(`\`${field}\`: ${fault}`);
  return { key, raw: isRaw };
}

const onlyVariables = (field: string, tag: string) =>
  `\`${field}\` uses ${tag.slice(0, 40)}. Only variables are allowed: {{name}}, or {{{name}}} for a value that is HTML.`;

const invalid = (message: string, options?: { cause: unknown }) => new AppError("invalid", message, options);

const ESCAPED: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (char) => ESCAPED[char] ?? char);

/**
 * Inserts values. A value is text and is not parsed for tags. In HTML `{{x}}` is escaped and `{{{x}}}` is
 * not. `field` is named in the error if the result is too long.
 */
export function fillTemplate(
  field: string,
  pieces: Piece[],
  values: Map<string, string>,
  as: "html" | "plain",
): string {
  let filled = "";
  for (const piece of pieces) {
    if ("text" in piece) filled += piece.text;
    else {
      const value = values.get(piece.key) ?? "";
      filled += as === "html" && !piece.raw ? escapeHtml(value) : value;
    }
    if (filled.length > filledCharsMax)
      throw invalid(
        `The filled-in \`${field}\` is longer than ${filledCharsMax.toLocaleString("en")} characters. Use shorter values.`,
      );
  }
  return filled;
}

/** The placeholders of a template's fields in order of first use, as declared variables without fallback. */
export function inferVariables(fields: Record<string, string | null>): TemplateVariable[] {
  const keys = new Set<string>();
  for (const [field, source] of Object.entries(fields))
    for (const piece of source === null ? [] : parseTemplate(field, source))
      if ("key" in piece) keys.add(piece.key);
  return [...keys].map((key) => ({ key, type: "string", fallbackValue: null }));
}

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
