import { Parser } from "htmlparser2";
import { findField } from "../fields";
import { decodeText, decodeValue, listParts, type Part } from "../mime";

/** What a person reads in a report, without the returned email. */
export type Notice = {
  /** Decoded. */
  subject: string;
  lines: string[];
};

const textCharsMax = 32_768;
const linesMax = 600;

/** The first text of a message, from its HTML if it has no other, up to the returned email below it. */
export function readNotice(message: Part): Notice {
  const subject = decodeValue(findField(message.fields, "subject") ?? "");
  const leaves = [...listParts(message)].filter(({ parts }) => parts.length === 0);
  const plain = leaves.find((part) => part.type === "text/plain" && part.content.trim() !== "");
  const html = leaves.find(({ type }) => type === "text/html");
  const text = plain
    ? decodeText(plain, textCharsMax)
    : html
      ? textOfHtml(decodeText(html, textCharsMax))
      : message.parts.length === 0
        ? decodeText(message, textCharsMax)
        : "";
  const lines = text.split("\n", linesMax);
  const end = lines.findIndex((line, index) => index > 0 && isCopyStart(line));
  return { subject, lines: end === -1 ? lines : lines.slice(0, end) };
}

/** The notice by its blank lines; the lines of a paragraph are joined. */
export const paragraphsOf = ({ lines }: Notice): string[] =>
  lines
    .map((line) => line.trim())
    .join("\n")
    .split(/\n\n+/)
    .map((paragraph) => paragraph.replaceAll("\n", " ").trim())
    .filter((paragraph) => paragraph !== "");

/** Lines that introduce the returned email or its header. */
const COPY = [
  /^[\s>]{0,10}(?:received|return-path|dkim-signature|x-envelope-from): ?\S/i,
  /\bbelow this line is a copy\b|\byour message reads\b|\bincluded is a copy\b/i,
];
/** A line that is only the title of the returned email: its words, separated by spaces. */
const TITLE =
  /^(?:start of |begin of |beginning of )?(?:the |your )?(?:original|returned|unsent|undelivered|rejected|old) (?:e )?(?:message|mail|email|text)(?: s)?(?: header| headers| text| info| body)?(?: below| attached| starts here)?$/i;
const COPY_WORDS = /\bfollows?\b|\b(?:copy|headers?|parts?|text|lines) of (?:the|your|this|that|original)\b/i;
const MESSAGE_WORDS = /\b(?:message|e-?mail|mail|text|headers?|lines)\b/i;
/** "The following did not receive a copy of your message". */
const NO_COPY = /\b(?:not|n't|subject)\b/i;

const isCopyStart = (line: string): boolean => {
  const start = line.slice(0, 300);
  const isNamed =
    COPY.some((pattern) => pattern.test(start)) || TITLE.test(start.replace(/\W+/g, " ").trim());
  return (isNamed || (COPY_WORDS.test(start) && MESSAGE_WORDS.test(start))) && !NO_COPY.test(start);
};

const HIDDEN: ReadonlySet<string> = new Set(["head", "script", "style", "title"]);
const INLINE = /^(?:a|b|code|em|font|i|img|span|strong|tt|u)$/;

/** The visible text of HTML. Each element that is not inline starts a line. */
function textOfHtml(html: string): string {
  let text = "";
  let hidden = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (HIDDEN.has(name)) hidden += 1;
      if (!INLINE.test(name)) text += "\n";
    },
    ontext(data) {
      if (hidden === 0) text += data.replace(/\s+/g, " ");
    },
    onclosetag(name) {
      if (HIDDEN.has(name)) hidden -= 1;
      if (!INLINE.test(name)) text += "\n";
    },
  });
  parser.end(html);
  return text;
}
