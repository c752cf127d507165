/** A tag in braces: a variable that is escaped, a variable that is inserted as raw HTML, or an invalid tag. */
export type Tag = {
  from: number;
  to: number;
  key: string | null;
  kind: "variable" | "raw" | "fault";
  /** The error message of an invalid tag. */
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

/** Mustache tags by their first character. None of them is supported. */
const UNSUPPORTED: Record<string, string> = {
  "#": "a section",
  "^": "an inverted section",
  "/": "the end of a section",
  ">": "a partial",
  "!": "a comment",
  "=": "a change of delimiters",
  "&": "an unescaped variable in the form {{&name}}, which is written {{{name}}} here",
};

/**
 * The tags of a template field in order, validated by the same rules as on the server. It is for highlighting while the
 * user types; the server validates again on save. A test checks that both agree.
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
  const unsupported = UNSUPPORTED[key[0] ?? ""];
  if (unsupported) return `This is ${unsupported}. It is not supported. Use {{name}} to insert a value.`;
  if (!KEY.test(key))
    return `"${key.slice(0, 60)}" is not a valid name. Use letters, digits and underscores, at most 50.`;
  if (RESERVED.has(key)) return `"${key}" is reserved. Choose another name.`;
  return null;
}

const endOfLine = (source: string, from: number): number => {
  const end = source.slice(from, from + tagCharsMax).search(/[\r\n]/);
  return end === -1 ? Math.min(source.length, from + tagCharsMax) : from + end;
};

/** The variable names in these fields, without duplicates, in order of first use. */
export const keysIn = (...sources: (string | null)[]): string[] => [
  ...new Set(
    sources.flatMap((source) => (source === null ? [] : readTags(source).flatMap(({ key }) => key ?? []))),
  ),
];

/** The variables that the HTML inserts as raw HTML. In the subject and the text part raw tags make no difference. */
export const rawKeysIn = (html: string): Set<string> =>
  new Set(readTags(html).flatMap(({ kind, key }) => (kind === "raw" && key !== null ? [key] : [])));
