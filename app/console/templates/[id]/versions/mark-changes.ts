import { Parser } from "htmlparser2";
import { findChanges } from "../code/find-changes";

/** A text or an image in the HTML, from one position to another; `key` is what the reader sees of it. */
type Piece = { from: number; to: number; key: string };

/** Elements whose text is not displayed, or cannot contain marks. */
const WITHOUT_MARKS = new Set(["title", "style", "script", "textarea", "select", "noscript"]);

/** The displayed texts and images of a document in order. The text of a link includes its address. */
function findPieces(html: string): Piece[] {
  const pieces: Piece[] = [];
  const links: string[] = [];
  let text: { from: number; to: number } | null = null;
  let hidden = 0;
  const endText = () => {
    if (text && hidden === 0) {
      const shown = html.slice(text.from, text.to).split(/\s+/).filter(Boolean).join(" ");
      if (shown !== "") pieces.push({ ...text, key: `${links.at(-1) ?? ""} ${shown}` });
    }
    text = null;
  };
  const parser = new Parser(
    {
      onopentag(name, { href, src, alt }) {
        endText();
        if (WITHOUT_MARKS.has(name)) hidden++;
        if (name === "a") links.push(href ?? "");
        if (name === "img" && hidden === 0)
          pieces.push({ from: parser.startIndex, to: parser.endIndex + 1, key: `image ${src} ${alt}` });
      },
      ontext() {
        text = { from: text?.from ?? parser.startIndex, to: parser.endIndex + 1 };
      },
      onclosetag(name) {
        endText();
        if (WITHOUT_MARKS.has(name)) hidden--;
        if (name === "a") links.pop();
      },
      oncomment: endText,
      onend: endText,
    },
    { decodeEntities: false },
  );
  parser.end(html);
  return pieces;
}

const REMOVED = "background:#ffd7d5;color:#7d1a13;text-decoration:line-through";
const ADDED = "background:#c9f2d3;color:#0b4f1f";

/** Both documents, with marks around the texts and images that only one of them has. */
export function markChanges(before: string, after: string): { before: string; after: string; count: number } {
  const [old, next] = [findPieces(before), findPieces(after)];
  const changes = findChanges(
    old.map(({ key }) => key),
    next.map(({ key }) => key),
  );
  return {
    before: withMarks(before, old, changes.before, REMOVED),
    after: withMarks(after, next, changes.after, ADDED),
    count: changes.before.length + changes.after.length,
  };
}

function withMarks(
  html: string,
  pieces: readonly Piece[],
  changed: readonly number[],
  style: string,
): string {
  let marked = "";
  let end = 0;
  for (const index of changed) {
    const piece = pieces[index];
    if (!piece) continue;
    marked += `${html.slice(end, piece.from)}<mark style="${style}">${html.slice(piece.from, piece.to)}</mark>`;
    end = piece.to;
  }
  return marked + html.slice(end);
}
