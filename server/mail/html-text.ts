import { compile } from "html-to-text";

/** Html beyond this many characters is not read for the text part: the converter blocks the process while it works. */
const HTML_CHARS_MAX = 150_000;

const convert = compile({
  wordwrap: 78,
  limits: { maxDepth: 100, maxInputLength: HTML_CHARS_MAX },
  formatters: {
    alternativeText: (element, _walk, builder) => builder.addInline(element.attribs?.alt ?? "", {}),
  },
  selectors: [
    { selector: "a", options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
    { selector: "img", format: "alternativeText" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

/** The text of an html body: wrapped at 78, links kept in brackets, images by their alternative text. Slow: milliseconds. */
export function textOfHtml(html: string): string {
  return convert(html.slice(0, HTML_CHARS_MAX));
}
