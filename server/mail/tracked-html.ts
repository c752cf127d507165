import { QuoteType, Tokenizer, type TokenizerCallbacks } from "htmlparser2";

/** What is put into an html body. Null leaves that part of it as it is. */
export type Marks = {
  /** The address that stands in for a link to this one; null leaves the link alone. */
  linkFor: ((target: string) => string | null) | null;
  /** The address of the picture whose loading tells of an opening. */
  pixel: string | null;
};

/**
 * Attributes by which a link asks not to be counted: ours, and those of SendGrid, Amazon SES, Postmark and Mailgun, so that
 * templates written for them keep their meaning. An empty value stands for any.
 */
const OPT_OUTS: ReadonlyMap<string, string> = new Map([
  ["data-posthorn-track", "off"],
  ["clicktracking", "off"],
  ["ses:no-track", ""],
  ["data-pm-no-track", ""],
  ["disable-tracking", "true"],
]);

/** A link by which somebody takes himself off a list must work without us, and tells nothing by being followed. */
const UNSUBSCRIBES = /unsubscribe|unsubscription|opt[-_]?out|list[-_]manage/i;

/** Addresses beyond this are left alone: with the token around them they would pass what mail programs follow. */
const targetCharsMax = 1_500;

type Attribute = { name: string; value: string; start: number; end: number; quote: QuoteType };
type Edit = { start: number; end: number; text: string };

/**
 * An html body in which links lead elsewhere first and one picture stands before its end. Nothing else changes by a byte:
 * the body is read by a tokenizer of HTML, in linear time whatever it holds, and edited at positions of the source. Links
 * are those of `a` and `area` to http and https; what stands in comments, scripts, styles or other attributes is text.
 */
export function trackedHtml(html: string, { linkFor, pixel }: Marks): string {
  const edits: Edit[] = [];
  let end = html.length;
  const onLink = linkFor && ((attributes: Attribute[]) => edits.push(...editOf(attributes, linkFor)));
  readTags(html, onLink, (name, start) => {
    // The last body's end, or else the last of the whole.
    if (name === "body" || (name === "html" && !isBodyEnd(html, end))) end = start;
  });
  if (pixel !== null) {
    const image = `<img src="${escapeAttribute(pixel)}" width="1" height="1" alt="" style="border:0">`;
    const at = edits.findIndex(({ start }) => start >= end);
    edits.splice(at === -1 ? edits.length : at, 0, { start: end, end, text: image });
  }
  let result = "";
  let done = 0;
  for (const edit of edits) {
    result += html.slice(done, edit.start) + edit.text;
    done = edit.end;
  }
  return result + html.slice(done);
}

const isBodyEnd = (html: string, at: number): boolean => /^<\/body/i.test(html.slice(at, at + 6));

function editOf(attributes: Attribute[], linkFor: (target: string) => string | null): Edit[] {
  // Of two attributes of one name the first counts (HTML Living Standard, 13.2.5.33).
  const href = attributes.find(({ name }) => name === "href");
  if (!href || attributes.some(isOptOut)) return [];
  const target = webAddress(href.value);
  if (target === null || UNSUBSCRIBES.test(target)) return [];
  const link = linkFor(target);
  if (link === null) return [];
  const text = escapeAttribute(link);
  const isQuoted = href.quote !== QuoteType.Unquoted;
  // A slash before the end of the tag belongs to a value without quotes, so ours gets some.
  return [{ start: href.start, end: href.end, text: isQuoted ? text : `"${text}"` }];
}

const isOptOut = ({ name, value }: Attribute): boolean => {
  const wanted = OPT_OUTS.get(name);
  return wanted !== undefined && (wanted === "" || value.trim().toLowerCase() === wanted);
};

/** An absolute address of http or https as a browser would follow it, or null. */
function webAddress(value: string): string | null {
  if (value.length > targetCharsMax || !URL.canParse(value)) return null;
  const { protocol, href } = new URL(value);
  return (protocol === "http:" || protocol === "https:") && href.length <= targetCharsMax ? href : null;
}

const escapeAttribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");

/** Tells of each link with its attributes, values decoded, and of where each closing tag begins. */
function readTags(
  html: string,
  onLink: ((attributes: Attribute[]) => void) | null,
  onClose: (name: string, start: number) => void,
): void {
  let isLink = false;
  let attributes: Attribute[] = [];
  let name = "";
  let start = 0;
  let value = "";
  const ignore = () => {};
  const endTag = () => {
    if (isLink && onLink) onLink(attributes);
    isLink = false;
  };
  const callbacks: TokenizerCallbacks = {
    onopentagname(from, to) {
      isLink = onLink !== null && /^(a|area)$/i.test(html.slice(from, to));
      attributes = [];
    },
    onattribname(from, to) {
      if (!isLink) return;
      name = html.slice(from, to).toLowerCase();
      start = valueStart(html, to);
      value = "";
    },
    onattribdata(from, to) {
      if (isLink) value += html.slice(from, to);
    },
    onattribentity(codePoint) {
      if (isLink) value += String.fromCodePoint(codePoint);
    },
    onattribend(quote, to) {
      if (!isLink) return;
      const isQuoted = quote === QuoteType.Double || quote === QuoteType.Single;
      attributes.push({ name, value, start, end: isQuoted ? to - 1 : to, quote });
    },
    onopentagend: endTag,
    onselfclosingtag: endTag,
    onclosetag(from, to) {
      onClose(html.slice(from, to).toLowerCase(), from - 2);
    },
    ontext: ignore,
    ontextentity: ignore,
    oncdata: ignore,
    oncomment: ignore,
    ondeclaration: ignore,
    onprocessinginstruction: ignore,
    onend: ignore,
  };
  const tokenizer = new Tokenizer({ decodeEntities: true }, callbacks);
  tokenizer.write(html);
  tokenizer.end();
}

/** Where the value of an attribute begins whose name ends here. */
function valueStart(html: string, nameEnd: number): number {
  const before = /[\t\n\f\r ]*=[\t\n\f\r ]*["']?/y;
  before.lastIndex = nameEnd;
  return before.test(html) ? before.lastIndex : nameEnd;
}
