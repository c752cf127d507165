import { QuoteType } from "htmlparser2";
import { parseUrl } from "#server/platform/egress/parse-url";
import { tokenize } from "./convert-html.mjs";

/** Tracking data for an HTML body. Null disables click or open tracking. */
export type Marks = {
  /** Returns the tracking URL for a link target; null leaves the link unchanged. */
  linkFor: ((target: string) => string | null) | null;
  /** URL of the tracking pixel: loading it counts as an open. */
  pixel: string | null;
};

/**
 * Attributes that exclude a link from click tracking: ours and those of SendGrid, Amazon SES, Postmark and
 * Mailgun, for templates written for these services. An empty value matches any value.
 */
const OPT_OUTS: ReadonlyMap<string, string> = new Map([
  ["data-backstamp-track", "off"],
  ["clicktracking", "off"],
  ["ses:no-track", ""],
  ["data-pm-no-track", ""],
  ["disable-tracking", "true"],
]);

/**
 * Unsubscribe links are never tracked: they must work without Backstamp, and a click on one shows no
 * interest.
 */
const UNSUBSCRIBES = /unsubscribe|unsubscription|opt[-_]?out|list[-_]manage/i;

/** Longer URLs are not tracked: with the token added they would exceed the limits of mail clients. */
const targetCharsMax = 1_500;

type Attribute = { name: string; value: string; start: number; end: number; quote: QuoteType };
type Edit = { start: number; end: number; text: string };

/**
 * Replaces the links of an HTML body with tracking URLs and inserts the tracking pixel before its end. All
 * other bytes stay unchanged: an HTML tokenizer locates the positions to edit, in linear time. Only http and
 * https links of `a` and `area` are replaced, not URLs in comments, scripts, styles or other attributes.
 */
export function addTracking(html: string, { linkFor, pixel }: Marks): string {
  const edits: Edit[] = [];
  let end = html.length;
  const onLink = linkFor && ((attributes: Attribute[]) => edits.push(...editOf(attributes, linkFor)));
  readTags(html, onLink, (name, start) => {
    // Insert the pixel before the last </body>, else before the last </html>.
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
  // The first of two attributes with the same name wins (HTML Living Standard, 13.2.5.33).
  const href = attributes.find(({ name }) => name === "href");
  if (!href || attributes.some(isOptOut)) return [];
  const target = webAddress(href.value);
  if (target === null || UNSUBSCRIBES.test(target)) return [];
  const link = linkFor(target);
  if (link === null) return [];
  const text = escapeAttribute(link);
  const isQuoted = href.quote !== QuoteType.Unquoted;
  // Quote the new value: a slash at the end of the tag would become part of an unquoted value.
  return [{ start: href.start, end: href.end, text: isQuoted ? text : `"${text}"` }];
}

const isOptOut = ({ name, value }: Attribute): boolean => {
  const expected = OPT_OUTS.get(name);
  return expected !== undefined && (expected === "" || value.trim().toLowerCase() === expected);
};

/** Normalizes an absolute http or https URL as a browser does; null for any other value. */
function webAddress(value: string): string | null {
  const url = value.length > targetCharsMax ? null : parseUrl(value);
  if (url === null) return null;
  const { protocol, href } = url;
  return (protocol === "http:" || protocol === "https:") && href.length <= targetCharsMax ? href : null;
}

const escapeAttribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");

/**
 * Calls `onLink` with the decoded attributes of each link, and `onClose` with the position of each closing
 * tag.
 */
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
  const endTag = () => {
    if (isLink && onLink) onLink(attributes);
    isLink = false;
  };
  tokenize(html, () => ({
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
  }));
}

/** Start of an attribute's value, given the end of its name. */
function valueStart(html: string, nameEnd: number): number {
  const before = /[\t\n\f\r ]*=[\t\n\f\r ]*["']?/y;
  before.lastIndex = nameEnd;
  return before.test(html) ? before.lastIndex : nameEnd;
}
