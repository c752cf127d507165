import type { TemplateVariable } from "#db/schema/templates";
import { faultOfKey } from "#server/shared/template-tags";
import { typeOfUses, usesIn } from "#server/shared/template-variables";
import {
  type Converted,
  convertBlockTag,
  isInList,
  type OpenBlocks,
  PATH,
  type Piece,
  rejectOpenBlocks,
  scopeOf,
} from "./convert-blocks";
import type { Provider } from "./providers/provider";

export type TemplateField = "subject" | "html" | "text";
export type TemplateFields = Record<TemplateField, string | null>;

/** A tag that Backstamp's templates do not have: where it is, what it is, and why. */
export type UnmappedTag = { field: TemplateField; line: number; tag: string; reason: string };

/** Fields in Backstamp's syntax, and what that took. */
export type ConvertedTemplate = {
  fields: TemplateFields;
  variables: TemplateVariable[];
  /** Variables and fields that have another name here; sends must use the new one. */
  renamed: { from: string; to: string }[];
  /** The field contains each of these as text in square brackets. */
  unmapped: UnmappedTag[];
};

/** Longer text between braces is not a tag. */
const tagCharsMax = 500;
const shownChars = 60;

const OTHER_SIGNS: Record<string, string> = {
  ">": "A partial",
  "=": "A change of delimiters",
  "*": "A decorator",
  "~": "Whitespace control",
};

type Conversion = Omit<ConvertedTemplate, "fields" | "variables"> & {
  rules: Provider["tags"];
  /** The provider's paths by ours. */
  names: Map<string, string>;
  fallbacks: Map<string, string | number>;
};

/**
 * Converts templates of Handlebars, Mustachio and Resend: `{{name}}` is escaped in HTML and `{{{name}}}` is
 * not, as here, and a path such as `user.name` stays one. `{{&name}}` becomes `{{{name}}}`, a comment is
 * removed, and a fallback in a tag becomes that of the variable. `#if` and `#each` with `else` are kept, and
 * a section of Mustachio becomes `#if` with the paths of its fields. Everything else that is evaluated there
 * is reported by field and line.
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
  const uses = usesIn(fields.subject, fields.html, fields.text);
  const variables = [...uses].map(([key, of]): TemplateVariable => {
    const fallbackValue = conversion.fallbacks.get(conversion.names.get(key) ?? key) ?? null;
    return { key, type: typeof fallbackValue === "number" ? "number" : typeOfUses(of), fallbackValue };
  });
  return { fields, variables, renamed: conversion.renamed, unmapped: conversion.unmapped };
}

function convertField(conversion: Conversion, field: TemplateField, source: string | null): string | null {
  if (source === null || source === "") return null;
  const parts: (string | Piece)[] = [];
  const open: OpenBlocks = [];
  let at = 0;
  let line = 1;
  for (const { from, to } of findTags(source, conversion.rules.other)) {
    const before = source.slice(at, from);
    line += linesIn(before);
    const tag = source.slice(from, to);
    const piece: Piece = { tag, line, result: { reason: "The provider replaces it" } };
    if (tag.startsWith("{{")) piece.result = convertTag(conversion, open, piece);
    parts.push(before, piece);
    line += linesIn(tag);
    at = to;
  }
  rejectOpenBlocks(open);
  const converted = parts.map((part) => (typeof part === "string" ? part : textOf(conversion, field, part)));
  return converted.join("") + source.slice(at);
}

/** The text of a tag. One that does not map is reported. */
function textOf({ unmapped }: Conversion, field: TemplateField, { tag, line, result }: Piece): string {
  if ("text" in result) return result.text;
  const shown = tag.replace(/\s+/g, " ").slice(0, shownChars);
  unmapped.push({
    field,
    line,
    tag: shown,
    reason: `${result.reason}; imports convert values, #if and #each.`,
  });
  return `[[${tag.replace(/[{}]/g, "").trim()}]]`;
}

function linesIn(text: string): number {
  let lines = 0;
  for (let next = text.indexOf("\n"); next !== -1; next = text.indexOf("\n", next + 1)) lines++;
  return lines;
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

function convertTag(conversion: Conversion, open: OpenBlocks, piece: Piece): Converted {
  const { rules, fallbacks } = conversion;
  const { tag } = piece;
  const isRaw = tag.startsWith("{{{");
  const braces = isRaw ? 3 : 2;
  if (tag.length < 2 * braces || !tag.endsWith("}".repeat(braces)))
    return { reason: "A tag that is not closed" };
  const content = tag.slice(braces, -braces).trim();
  if (content.startsWith("!")) return { text: "" };
  const block = isRaw
    ? null
    : convertBlockTag(open, piece, content, rules.blocks, (name) => resolvePath(conversion, open, name));
  if (block !== null) return block;
  const isUnescaped = content.startsWith("&");
  const expression = isUnescaped ? content.slice(1).trim() : content;
  const sign = OTHER_SIGNS[expression[0] ?? ""];
  if (sign !== undefined) return { reason: sign };
  const { name = expression, fallback } = rules.withFallback?.exec(expression)?.groups ?? {};
  if (rules.own.has(name)) return { reason: "The provider fills it in" };
  const path = resolvePath(conversion, open, name);
  if (path === null) return { reason: faultOfValue(name) };
  if (fallback !== undefined) {
    if (path.includes(".") || isInList(open)) return { reason: "The fallback of a field" };
    if (!fallbacks.has(name)) fallbacks.set(name, fallback);
  }
  return { text: isRaw || isUnescaped ? `{{{${path}}}}` : `{{${path}}}` };
}

function faultOfValue(name: string): string {
  if (PATH.test(name) && name !== "this" && !name.startsWith("this."))
    return "A variable whose name is too long, or equals that of another one here";
  if (name.startsWith("@")) return `The value \`${name.slice(0, shownChars)}\` of the provider`;
  const [helper = ""] = name.split(/\s+/);
  return helper === name ? "An expression" : `The helper \`${helper.slice(0, shownChars)}\``;
}

/** Our path of a name: that of a variable, or in a list that of a field of the item. Null if it has none. */
function resolvePath(conversion: Conversion, open: OpenBlocks, name: string): string | null {
  const scope = scopeOf(open);
  const isItem = isInList(open);
  if (name === "." || name === "this") return scope ?? (isItem ? "this" : null);
  if (name === "@index") return isItem && scope === null ? name : null;
  if (!PATH.test(name)) return null;
  if (name.startsWith("this.")) {
    if (scope === null && !isItem) return null;
    const fields = nameFields(name.slice("this.".length));
    return fields && renameTo(conversion, name, `${scope ?? "this"}.${fields}`, scope === null);
  }
  const fields = nameFields(name);
  if (fields === null) return null;
  if (scope !== null) return renameTo(conversion, name, `${scope}.${fields}`, false);
  const [first = "", ...rest] = fields.split(".");
  const own = isItem || faultOfKey(first) === null ? first : `${first}_value`;
  if (!isItem && faultOfKey(own) !== null) return null;
  return renameTo(conversion, name, [own, ...rest].join("."), !isItem);
}

const pathNamesMax = 10;
const nameCharsMax = 50;

/** The names of a path with letters, digits and underscores only; null if one of them is too long. */
function nameFields(path: string): string | null {
  const names = path.split(".").map((name) => name.replace(/[^A-Za-z0-9_]/g, "_"));
  return names.length <= pathNamesMax && names.every((name) => name.length <= nameCharsMax)
    ? names.join(".")
    : null;
}

/** Records a name that differs here. Null if `isUnique` and another name already has this path. */
function renameTo(
  { names, renamed }: Conversion,
  from: string,
  to: string,
  isUnique: boolean,
): string | null {
  const known = isUnique ? names.get(to) : undefined;
  if (known !== undefined && known !== from) return null;
  if (isUnique) names.set(to, from);
  const isRenamed =
    from.replace(/[^A-Za-z0-9_.]/g, "_") !== from || to.split(".")[0] === `${from.split(".")[0]}_value`;
  if (isRenamed && !renamed.some((each) => each.from === from)) renamed.push({ from, to });
  return to;
}
