/** A tag in braces: a variable that is escaped in HTML, one that is inserted as raw HTML, or an invalid tag. */
export type Tag = { from: number; to: number } & (
  | { kind: "variable" | "raw"; key: string; fault: null }
  | { kind: "fault"; key: null; fault: string }
);

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

/** Mustache tags by their first character. None of them is supported: a template can only insert values. */
const UNSUPPORTED: Record<string, string> = {
  "#": "a section",
  "^": "an inverted section",
  "/": "the end of a section",
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

/**
 * The tags of a template field in order. Only variables are valid, `{{x}}` and `{{{x}}}`; text after a tag that
 * is not closed, or after the 5,000th, is not read. Takes time linear in the length of the text.
 */
export function readTags(source: string): Tag[] {
  const tags: Tag[] = [];
  let at = 0;
  for (let open = source.indexOf("{{"); open !== -1; open = source.indexOf("{{", at)) {
    const isRaw = source.startsWith("{{{", open);
    const closing = isRaw ? "}}}" : "}}";
    // The search ends at the maximum tag length, so text full of braces is scanned once, not once per brace.
    const start = source.slice(open, open + tagCharsMax);
    const end = start.indexOf(closing);
    if (end === -1 || tags.length >= tagsMax) {
      const to = open + (end === -1 ? lineLength(start) : end + closing.length);
      tags.push({ from: open, to, kind: "fault", key: null, fault: end === -1 ? unclosed(open) : TOO_MANY });
      return tags;
    }
    at = open + end + closing.length;
    const key = start.slice(closing.length, end).trim();
    const unsupported = UNSUPPORTED[key[0] ?? ""];
    const fault = unsupported
      ? `${start.slice(0, end + closing.length).slice(0, 40)} is ${unsupported}. It is not supported. Use {{name}} to insert a value.`
      : faultOfKey(key);
    tags.push({
      from: open,
      to: at,
      ...(fault
        ? { kind: "fault", key: null, fault }
        : { kind: isRaw ? "raw" : "variable", key, fault: null }),
    });
  }
  return tags;
}

const unclosed = (at: number): string =>
  `Unclosed tag at character ${at + 1}. Write {{name}} or {{{name}}}, at most ${tagCharsMax} characters.`;
const TOO_MANY = `More than ${tagsMax.toLocaleString("en")} placeholders. Use fewer.`;

const lineLength = (text: string): number => {
  const end = text.search(/[\r\n]/);
  return end === -1 ? text.length : end;
};

/** The variable names in these fields, without duplicates, in order of first use. */
export const keysIn = (...sources: (string | null)[]): string[] => [
  ...new Set(sources.flatMap((source) => readTags(source ?? "").flatMap(({ key }) => key ?? []))),
];

/** The variables that the HTML inserts as raw HTML. In the subject and the text part raw tags make no difference. */
export const rawKeysIn = (html: string): Set<string> =>
  new Set(readTags(html).flatMap(({ kind, key }) => (kind === "raw" ? [key] : [])));

/**
 * The variables after a change of the content that does not list them: declared ones are kept if they are used or
 * have a fallback, and new placeholders are declared.
 */
export function mergeVariables<Variable extends { key: string }>(
  declared: readonly Variable[],
  used: readonly string[],
  {
    hasFallback,
    declare,
  }: { hasFallback: (variable: Variable) => boolean; declare: (key: string) => Variable },
): Variable[] {
  const kept = declared.filter((variable) => hasFallback(variable) || used.includes(variable.key));
  const added = used.filter((key) => !kept.some((variable) => variable.key === key));
  return [...kept, ...added.map(declare)];
}
