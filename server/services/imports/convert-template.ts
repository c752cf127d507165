import type { TemplateVariable } from "#db/schema/templates";
import { faultOfKey } from "#server/shared/template-tags";
import type { Provider } from "./providers/provider";

export type TemplateField = "subject" | "html" | "text";
export type TemplateFields = Record<TemplateField, string | null>;

/** A tag that Backstamp's templates do not have: where it is, what it is, and why. */
export type UnmappedTag = { field: TemplateField; line: number; tag: string; reason: string };

/** Fields in Backstamp's syntax, and what that took. */
export type ConvertedTemplate = {
  fields: TemplateFields;
  variables: TemplateVariable[];
  /** Variables that have another name here; sends must use the new one. */
  renamed: { from: string; to: string }[];
  /** The field contains each of these as text in square brackets. */
  unmapped: UnmappedTag[];
};

/** Longer text between braces is not a tag. */
const tagCharsMax = 500;
const shownChars = 60;

const PATH = /^[A-Za-z_$][\w$-]*(?:\.[\w$-]+)*$/;
const IS_BLOCK = /^(?:[#^/>=*~@]|else\b)/;
const BLOCKS: Record<string, string> = {
  "#": "A block, such as a condition or a loop",
  "^": "An inverted block",
  "/": "The end of a block",
  ">": "A partial",
  "=": "A change of delimiters",
  "*": "A decorator",
  "~": "Whitespace control",
  "@": "A value of the provider",
  e: "`else`",
};

type Conversion = Omit<ConvertedTemplate, "fields" | "variables"> & {
  rules: Provider["tags"];
  /** Our names of the provider's variables. */
  names: Map<string, string>;
  fallbacks: Map<string, string | number>;
};

/**
 * Converts templates of Handlebars, Mustachio and Resend: `{{name}}` is escaped in HTML and `{{{name}}}` is
 * not, as here. `{{&name}}` becomes `{{{name}}}`, a comment is removed, a path such as `user.name` becomes a
 * variable `user_name`, and a fallback in a tag becomes that of the variable. Everything else that is
 * evaluated there is reported by field and line.
 */
export function convertTemplate(
  { subject, html, text }: TemplateFields,
  rules: Provider["tags"],
  fallbacks: Record<string, string | number> = {},
): ConvertedTemplate {
  const conversion: Conversion = {
    rules,
    names: new Map(),
    fallbacks: new Map(Object.entries(fallbacks)),
    renamed: [],
    unmapped: [],
  };
  const fields = {
    subject: convertField(conversion, "subject", subject),
    html: convertField(conversion, "html", html),
    text: convertField(conversion, "text", text),
  };
  const variables = [...conversion.names].map(([from, key]): TemplateVariable => {
    const fallbackValue = conversion.fallbacks.get(from) ?? null;
    return { key, type: typeof fallbackValue === "number" ? "number" : "string", fallbackValue };
  });
  return { fields, variables, renamed: conversion.renamed, unmapped: conversion.unmapped };
}

function convertField(conversion: Conversion, field: TemplateField, source: string | null): string | null {
  if (source === null || source === "") return null;
  let converted = "";
  let at = 0;
  let line = 1;
  const reject = (tag: string, reason: string): string => {
    const shown = tag.replace(/\s+/g, " ");
    conversion.unmapped.push({ field, line, tag: shown.slice(0, shownChars), reason });
    return `[[${tag.replace(/[{}]/g, "").trim()}]]`;
  };
  for (const { from, to } of findTags(source, conversion.rules.other)) {
    converted += source.slice(at, from);
    for (
      let next = source.indexOf("\n", at);
      next !== -1 && next < from;
      next = source.indexOf("\n", next + 1)
    )
      line++;
    const tag = source.slice(from, to);
    const result = tag.startsWith("{{")
      ? convertTag(conversion, tag)
      : { reason: "The provider replaces it" };
    converted +=
      "text" in result ? result.text : reject(tag, `${result.reason}; imports convert inserted values only.`);
    for (let next = tag.indexOf("\n"); next !== -1; next = tag.indexOf("\n", next + 1)) line++;
    at = to;
  }
  return converted + source.slice(at);
}

/** Tags in braces with their closing braces, and the provider's other tags, in order. */
function* findTags(source: string, other: RegExp | null): Generator<{ from: number; to: number }> {
  const others = other === null ? [] : [...source.matchAll(other)];
  let at = 0;
  for (;;) {
    while (others[0] !== undefined && others[0].index < at) others.shift();
    const open = source.indexOf("{{", at);
    const found = others[0];
    if (found !== undefined && (open === -1 || found.index < open)) {
      at = found.index + found[0].length;
      yield { from: found.index, to: at };
      continue;
    }
    if (open === -1) return;
    const closing = source.startsWith("{{!--", open) ? "--}}" : source.startsWith("{{{", open) ? "}}}" : "}}";
    const end = source.slice(open, closing === "--}}" ? undefined : open + tagCharsMax).indexOf(closing);
    at = end === -1 ? open + 2 : open + end + closing.length;
    yield { from: open, to: at };
  }
}

function convertTag(conversion: Conversion, tag: string): { text: string } | { reason: string } {
  const { rules, fallbacks } = conversion;
  const isRaw = tag.startsWith("{{{");
  const braces = isRaw ? 3 : 2;
  if (tag.length < 2 * braces || !tag.endsWith("}".repeat(braces)))
    return { reason: "A tag that is not closed" };
  const content = tag.slice(braces, -braces).trim();
  if (content.startsWith("!")) return { text: "" };
  const isUnescaped = content.startsWith("&");
  const expression = isUnescaped ? content.slice(1).trim() : content;
  if (IS_BLOCK.test(expression)) return { reason: BLOCKS[expression[0] ?? ""] ?? "A block" };
  const { name = expression, fallback } = rules.withFallback?.exec(expression)?.groups ?? {};
  if (!PATH.test(name) || name === "this" || name.startsWith("this."))
    return { reason: /\s/.test(name) ? "A helper" : "An expression" };
  if (rules.own.has(name)) return { reason: "The provider fills it in" };
  const key = nameVariable(conversion, name);
  if (key === null)
    return { reason: "A variable whose name is too long, or equals that of another one here" };
  if (fallback !== undefined && !fallbacks.has(name)) fallbacks.set(name, fallback);
  return { text: isRaw || isUnescaped ? `{{{${key}}}}` : `{{${key}}}` };
}

/** Our name of a variable: letters, digits and underscores. Null if no name is free for it. */
function nameVariable({ names, renamed }: Conversion, name: string): string | null {
  const known = names.get(name);
  if (known !== undefined) return known;
  const plain = name.replace(/[^A-Za-z0-9_]/g, "_");
  const key = faultOfKey(plain) === null ? plain : `${plain}_value`;
  if (faultOfKey(key) !== null || [...names.values()].includes(key)) return null;
  names.set(name, key);
  if (key !== name) renamed.push({ from: name, to: key });
  return key;
}
