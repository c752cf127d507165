import { Marked, type Token, type Tokens } from "marked";
import { escapeHtml } from "#server/shared/text/escape-html";
import { parseSample, renderCode, renderSamples, type Sample } from "./code";

/**
 * A part of a document that begins with a heading. `id` is its anchor, empty for the part before the first
 * one.
 */
export type Section = { id: string; heading: string; depth: number; text: string };

/** A rendered document. The title is its first heading, the summary its first paragraph. */
export type Rendered = { title: string; summary: string; html: string; sections: Section[] };

/** The anchor of a heading, as GitHub builds it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** The anchors of the headings of a document. GitHub numbers the later ones of equal headings. */
function anchorsOf(tokens: readonly Token[]): Map<Token, string> {
  const counts = new Map<string, number>();
  return new Map(
    tokens
      .filter((token): token is Tokens.Heading => token.type === "heading")
      .map((token) => {
        const anchor = anchorOf(token.text);
        const count = counts.get(anchor) ?? 0;
        counts.set(anchor, count + 1);
        return [token, count === 0 ? anchor : `${anchor}-${count}`];
      }),
  );
}

/** Text without pictures and without the marks of emphasis, code and links. */
const plainOf = (markdown: string): string =>
  markdown
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]*)\]\[[^\]]*\]/g, "$1")
    .replace(/[`*]/g, "")
    .replace(/\\([[\]_|])/g, "$1");

/** Joins neighbouring samples that have different labels. */
function joinSamples(tokens: readonly Token[]): Token[] {
  const joined: Token[] = [];
  for (const token of tokens) {
    const sample = token.type === "code" ? parseSample(token.lang ?? "", token.text) : null;
    const before = joined.at(-1);
    const samples: readonly Sample[] = before?.type === "samples" ? before.samples : [];
    if (sample === null) {
      if (token.type !== "space") joined.push(token);
    } else if (samples.length > 0 && samples.every(({ label }) => label !== sample.label))
      joined.splice(-1, 1, { type: "samples", raw: "", samples: [...samples, sample] });
    else joined.push({ type: "samples", raw: "", samples: [sample] });
  }
  return joined;
}

const isCode = ({ type }: Token): boolean => type === "code" || type === "samples";

/** The blocks of a document, divided at its headings of the second level. */
const divide = (blocks: readonly Token[]): Token[][] =>
  blocks.reduce<Token[][]>(
    (parts, block) => {
      if (block.type === "heading" && block.depth === 2) parts.push([]);
      parts.at(-1)?.push(block);
      return parts;
    },
    [[]],
  );

/**
 * Renders Markdown of this repository. HTML in it is escaped, and a picture becomes its description.
 * `resolveLink` returns the address of a link, or null for one that leads nowhere in an installation: only
 * its text remains. On a page of the API reference the code of each section is beside its text, and the
 * search does not find it.
 */
export function renderMarkdown(
  source: string,
  resolveLink: (target: string) => string | null,
  isReference = false,
): Rendered {
  const sections: Section[] = [{ id: "", heading: "", depth: 1, text: "" }];
  let title = "";
  let summary = "";
  const marked = new Marked({
    extensions: [{ name: "samples", renderer: ({ samples }) => renderSamples(samples) }],
    renderer: {
      heading(token: Tokens.Heading) {
        const { tokens, depth } = token;
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${content}</h1>\n`;
        const id = anchors.get(token) ?? anchorOf(token.text);
        return `<h${depth} id="${id}">${content} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      code: ({ text, lang = "" }: Tokens.Code) => renderCode(text, lang.split(" ")[0] ?? ""),
      link({ href, tokens }: Tokens.Link) {
        const content = this.parser.parseInline(tokens);
        const address = resolveLink(href);
        return address === null ? content : `<a href="${escapeHtml(address)}">${content}</a>`;
      },
      table(token: Tokens.Table) {
        const cellOf = (tag: string, { tokens, text }: Tokens.TableCell) =>
          text === "" ? "<td></td>" : `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const cells = (tag: string, row: Tokens.TableCell[]) =>
          `<tr>${row.map((cell) => cellOf(tag, cell)).join("")}</tr>`;
        const hasHeader = token.header.some(({ text }) => text !== "");
        const head = hasHeader ? `<thead>${cells("th", token.header)}</thead>` : "";
        const rows = token.rows.map((row) => cells("td", row)).join("\n");
        return `<div class="table" tabindex="0"><table>${head}<tbody>\n${rows}\n</tbody></table></div>\n`;
      },
      image: ({ text }: Tokens.Image) => escapeHtml(text),
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (text === "<br>" ? "<br>" : escapeHtml(text)),
    },
  });
  const tokens = marked.lexer(source);
  const anchors = anchorsOf(tokens);
  for (const token of isReference ? tokens.filter((each) => !isCode(each)) : tokens) {
    if (token.type === "heading" && token.depth === 1) title ||= plainOf(token.text);
    else if (token.type === "heading")
      sections.push({
        id: anchors.get(token) ?? "",
        heading: plainOf(token.text),
        depth: token.depth,
        text: "",
      });
    else {
      if (token.type === "paragraph") summary ||= plainOf(token.text).trim();
      const section = sections.at(-1);
      const text = token.type === "code" ? token.text : token.type === "def" ? "" : plainOf(token.raw);
      if (section) section.text += ` ${text}`;
    }
  }
  const renderBeside = (part: Token[]): string => {
    const code = part.filter(isCode);
    if (code.length === 0) return marked.parser(part);
    const text = marked.parser(part.filter((block) => !isCode(block)));
    return `<section>\n<div>${text}</div>\n<div class="beside">${marked.parser(code)}</div>\n</section>\n`;
  };
  const blocks = joinSamples(tokens);
  return {
    title,
    summary: collapse(summary),
    html: isReference ? divide(blocks).map(renderBeside).join("") : marked.parser(blocks),
    sections: sections.map((section) => ({ ...section, text: collapse(section.text) })),
  };
}

const collapse = (text: string): string =>
  text
    .replace(/[\s|]+/g, " ")
    .replace(/-{3,}/g, "")
    .trim();
