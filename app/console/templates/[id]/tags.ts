/** A place in a template between braces: shown by its value, put in as raw HTML, or nothing that a template may hold. */
export type Tag = {
  from: number;
  to: number;
  key: string | null;
  kind: "variable" | "raw" | "fault";
  /** Why it cannot stay, in a sentence. */
  fault: string | null;
};

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
const tagCharsMax = 200;
const tagsMax = 5_000;

/** What Mustache would do with a tag, by its first sign; here all of it is refused. */
const FOREIGN: Record<string, string> = {
  "#": "a section",
  "^": "an inverted section",
  "/": "the end of a section",
  ">": "a partial",
  "!": "a comment",
  "=": "a change of delimiters",
  "&": "an unescaped variable, which is written {{{name}}} here,",
};

/**
 * The tags of a template's field in their order, each judged as the server judges it when it is saved. Marks places while
 * somebody types; the server has the last word, and a test holds the two together.
 */
export function readTags(source: string): Tag[] {
  const tags: Tag[] = [];
  let at = 0;
  for (let open = source.indexOf("{{"); open !== -1; open = source.indexOf("{{", at)) {
    const isRaw = source.startsWith("{{{", open);
    const closing = isRaw ? "}}}" : "}}";
    const end = source.slice(open, open + tagCharsMax).indexOf(closing);
    if (end === -1) {
      tags.push({ from: open, to: endOfLine(source, open), key: null, kind: "fault", fault: UNCLOSED });
      return tags;
    }
    at = open + end + closing.length;
    const key = source.slice(open + closing.length, at - closing.length).trim();
    const fault = tags.length >= tagsMax ? TOO_MANY : faultOfTag(key);
    tags.push({
      from: open,
      to: at,
      key: fault ? null : key,
      kind: fault ? "fault" : isRaw ? "raw" : "variable",
      fault,
    });
  }
  return tags;
}

const UNCLOSED = "This tag is not closed. Write {{name}} or {{{name}}}.";
const TOO_MANY = "There are more than 5,000 placeholders. Use fewer.";

function faultOfTag(key: string): string | null {
  const foreign = FOREIGN[key[0] ?? ""];
  if (foreign) return `This is ${foreign} and is not offered: a template only shows values, by {{name}}.`;
  if (!KEY.test(key)) return `"${key.slice(0, 60)}" is no name: use letters, digits and _, at most 50.`;
  if (RESERVED.has(key)) return `"${key}" is reserved. Choose another name.`;
  return null;
}

const endOfLine = (source: string, from: number): number => {
  const end = source.slice(from, from + tagCharsMax).search(/[\r\n]/);
  return end === -1 ? Math.min(source.length, from + tagCharsMax) : from + end;
};

/** The names that stand in these fields, each once, in the order of their first use. */
export const keysIn = (...sources: (string | null)[]): string[] => [
  ...new Set(
    sources.flatMap((source) => (source === null ? [] : readTags(source).flatMap(({ key }) => key ?? []))),
  ),
];

/** Those of them that stand somewhere as raw HTML. Only in HTML that makes a difference. */
export const rawKeysIn = (html: string): Set<string> =>
  new Set(readTags(html).flatMap(({ kind, key }) => (kind === "raw" && key !== null ? [key] : [])));
