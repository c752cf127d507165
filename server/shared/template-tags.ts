import { isUnsubscribeName } from "./text/unsubscribe-tags";

/**
 * The names of a path, such as `user`, `city` for `{{user.city}}`. In a list the first may be `this` or
 * `@index`.
 */
export type Path = readonly [string, ...string[]];

/** Inside `{{#each}}` a name is that of a field of the item, or of a variable. */
type Reference = { path: Path; isInList: boolean };

/**
 * A tag in braces: a value that is escaped in HTML, one that is inserted as raw HTML, the recipient's
 * unsubscribe link, which only the delivery inserts, the beginning, `{{else}}` or end of a block, or an
 * invalid tag. Without a `fault`, blocks are closed in order.
 */
export type Tag = Place & Meaning;
type Place = { from: number; to: number };
type Meaning =
  | ({ kind: "variable" | "raw" } & Reference)
  | ({ kind: "if" | "each" } & Reference)
  | { kind: "else" | "end" | "unsubscribe" }
  | { kind: "fault"; fault: string };

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
/**
 * Limits: tags per field, characters per tag with spaces and braces, names per path, blocks inside one
 * another.
 */
const tagsMax = 5_000;
const tagCharsMax = 200;
const pathNamesMax = 10;
const blocksDeepMax = 10;

/** Tags of Mustache and Handlebars by their first character that templates do not have. */
const UNSUPPORTED: Record<string, string> = {
  "^": "an inverted section",
  ">": "a partial",
  "!": "a comment",
  "=": "a change of delimiters",
  "&": "an unescaped variable in the form {{&name}}, which is written {{{name}}} here",
};

/** Returns why a word is not a valid variable name, or null. */
export function faultOfKey(key: string): string | null {
  if (!KEY.test(key))
    return `"${key.slice(0, 60)}" is not a valid variable name: use letters, digits and _, at most 50.`;
  return RESERVED.has(key) ? `"${key}" is reserved. Choose another variable name.` : null;
}

type Block = {
  kind: "if" | "each";
  /** The position of its first tag in the list, and that tag as it is written. */
  index: number;
  written: string;
  hasElse: boolean;
};

/** The blocks that are open, from the outermost. */
type Blocks = { open: Block[]; listsDeep: number };

const faulty = (fault: string): Meaning => ({ kind: "fault", fault });

/**
 * The tags of a template field in order: `{{x}}`, `{{{x}}}`, `{{#if x}}` and `{{#each x}}` with `{{else}}`
 * and their ends. Text after a tag that is not closed, or after the 5,000th, is not read. Takes time linear
 * in the length of the text.
 */
export function parseTags(source: string): Tag[] {
  const tags: Tag[] = [];
  const blocks: Blocks = { open: [], listsDeep: 0 };
  let at = 0;
  for (let open = source.indexOf("{{"); open !== -1; open = source.indexOf("{{", at)) {
    const isRaw = source.startsWith("{{{", open);
    const closing = isRaw ? "}}}" : "}}";
    // The search ends at the maximum tag length, so text full of braces is scanned once, not once per brace.
    const start = source.slice(open, open + tagCharsMax);
    const end = start.indexOf(closing);
    if (end === -1 || tags.length >= tagsMax) {
      const to = open + (end === -1 ? lineLength(start) : end + closing.length);
      tags.push({ from: open, to, kind: "fault", fault: end === -1 ? UNCLOSED : TOO_MANY });
      return tags;
    }
    at = open + end + closing.length;
    const written = start.slice(0, end + closing.length);
    const content = start.slice(closing.length, end).trim();
    const isInList = blocks.listsDeep > 0;
    const meaning: Meaning = isUnsubscribeName(content)
      ? { kind: "unsubscribe" }
      : isRaw
        ? readValue("raw", content, isInList)
        : (readBlockTag(blocks, content, written, tags.length) ?? readValue("variable", content, isInList));
    tags.push({ from: open, to: at, ...meaning });
  }
  for (const { kind, index, written } of blocks.open) {
    const { from, to } = tags[index] ?? { from: 0, to: 0 };
    tags[index] = { from, to, kind: "fault", fault: `${written} is not closed. Add {{/${kind}}}.` };
  }
  return tags;
}

const UNCLOSED = `Unclosed tag. Write {{name}} or {{{name}}}. A tag has at most ${tagCharsMax} characters.`;
const TOO_MANY = `More than ${tagsMax.toLocaleString("en")} placeholders. Use fewer.`;

const lineLength = (text: string): number => {
  const end = text.search(/[\r\n]/);
  return end === -1 ? text.length : end;
};

/** A tag that begins, divides or ends a block, or one that only other languages have; null for a value. */
function readBlockTag(blocks: Blocks, content: string, written: string, index: number): Meaning | null {
  const sign = content[0] ?? "";
  const [word = "", ...others] = content.slice(1).trim().split(/\s+/);
  if (sign === "#" && (word === "if" || word === "each")) {
    const isInList = blocks.listsDeep > 0;
    blocks.open.push({ kind: word, index, written: written.slice(0, 60), hasElse: false });
    if (word === "each") blocks.listsDeep++;
    if (blocks.open.length > blocksDeepMax)
      return faulty(`More than ${blocksDeepMax} blocks inside one another. Use fewer.`);
    const [name, extra] = others;
    if (name === undefined || extra !== undefined)
      return faulty(`${written.slice(0, 60)} needs exactly one name: {{#${word} name}}.`);
    return readValue(word, name, isInList);
  }
  if (sign === "/" && (word === "if" || word === "each") && others.length === 0) {
    const top = blocks.open.at(-1);
    if (top?.kind === word) {
      closeBlocks(blocks, blocks.open.length - 1);
      return { kind: "end" };
    }
    // It also closes the blocks inside that of its kind, so that each mistake is reported once.
    const own = blocks.open.findLastIndex(({ kind }) => kind === word);
    if (own !== -1) closeBlocks(blocks, own);
    return faulty(`{{/${word}}} ends no block here. ${top ? `${top.written} is open.` : "Remove it."}`);
  }
  const block = blocks.open.at(-1);
  // Outside blocks `else` is an ordinary name.
  if (content === "else" && block) {
    if (block.hasElse) return faulty(`${block.written} has a second {{else}}. Remove one.`);
    block.hasElse = true;
    // The part after {{else}} is for an empty list, so it has no item.
    if (block.kind === "each") blocks.listsDeep--;
    return { kind: "else" };
  }
  // A name after `#` is that of a block in other languages, so the message names the blocks of this one.
  if (sign === "#" || sign === "/")
    return faulty(
      `${written.slice(0, 40)} is not a supported block. Use {{#if name}} … {{/if}} or {{#each name}} … {{/each}}.`,
    );
  const unsupported = UNSUPPORTED[sign];
  return unsupported
    ? faulty(
        `${written.slice(0, 40)} is ${unsupported}. It is not supported. Use {{name}}, {{#if name}} or {{#each name}}.`,
      )
    : null;
}

/** Closes the blocks from this position on. */
function closeBlocks(blocks: Blocks, from: number): void {
  for (const { kind, hasElse } of blocks.open.splice(from))
    if (kind === "each" && !hasElse) blocks.listsDeep--;
}

function readValue(kind: "variable" | "raw" | "if" | "each", content: string, isInList: boolean): Meaning {
  const [first = "", ...fields] = content.split(".");
  const path: Path = [first, ...fields];
  const fault = faultOfPath(path, content, isInList);
  return fault === null ? { kind, path, isInList } : faulty(fault);
}

function faultOfPath([first, ...fields]: Path, content: string, isInList: boolean): string | null {
  if (first === "@index" && fields.length === 0)
    return isInList ? null : "{{@index}} is the position in a list. Use it inside {{#each name}}.";
  if (fields.length === 0 && !isInList) return faultOfKey(first);
  if (!isInList && RESERVED.has(first)) return faultOfKey(first);
  if (![first, ...fields].every((name) => KEY.test(name)))
    return `"${content.slice(0, 60)}" is not a valid variable name: use letters, digits and _, and dots between the names of fields.`;
  return fields.length < pathNamesMax
    ? null
    : `"${content.slice(0, 60)}" has more than ${pathNamesMax} names. Use fewer.`;
}

/** The line and column of a position, from 1. */
export function positionOf(source: string, at: number): { line: number; column: number } {
  let line = 1;
  let begin = 0;
  for (let next = source.indexOf("\n"); next !== -1 && next < at; next = source.indexOf("\n", begin)) {
    line++;
    begin = next + 1;
  }
  return { line, column: at - begin + 1 };
}
