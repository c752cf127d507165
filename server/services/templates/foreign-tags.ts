import type { TemplateContent } from "./content";

type Source = Pick<TemplateContent, "subject" | "html" | "text">;

/** Tags that other template languages evaluate. Backstamp sends them as text. */
const LANGUAGES = [
  { name: "EJS", open: "<%", close: "%>" },
  { name: "Jinja and Liquid", open: "{%", close: "%}" },
  { name: "Jinja", open: "{#", close: "#}" },
] as const;

/** A longer match is text that happens to contain both delimiters. */
const tagCharsMax = 200;
const excerptCharsMax = 60;

/**
 * One warning per field and language whose tags it contains. They are stored, and sent unchanged. It is a
 * warning and not an error, because such text may be intended.
 */
export function findForeignTags(source: Source): string[] {
  return (["subject", "html", "text"] as const).flatMap((field) => {
    const text = source[field] ?? "";
    return LANGUAGES.flatMap(({ name, open, close }) => {
      const found = findTag(text, open, close);
      if (!found) return [];
      const line = text.slice(0, found.at).split("\n").length;
      const excerpt = found.tag.replace(/\s+/g, " ").slice(0, excerptCharsMax);
      return `\`${field}\` has \`${excerpt}\` on line ${line}. ${name} tags are not evaluated and would be sent as text. Use {{name}} to insert a value.`;
    });
  });
}

/** The first tag; takes time linear in the length of the text. */
function findTag(text: string, open: string, close: string): { at: number; tag: string } | null {
  for (let from = 0; ; ) {
    const first = text.indexOf(open, from);
    const end = first === -1 ? -1 : text.indexOf(close, first + open.length);
    if (end === -1) return null;
    from = end + close.length;
    const at = from - first <= tagCharsMax ? first : text.lastIndexOf(open, end - open.length);
    if (from - at <= tagCharsMax) return { at, tag: text.slice(at, from) };
  }
}
