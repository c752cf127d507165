import type { TagRules } from "./providers/provider";

/** A tag of a field: what it becomes, or why it does not map. */
export type Converted = { text: string } | { reason: string };
/** A tag where it was found. Its meaning can change until its block is closed. */
export type Piece = { tag: string; line: number; result: Converted };

type Block = {
  /** The name that its end repeats. */
  word: string;
  /** Null for a block that does not map. */
  kind: "if" | "each" | "section" | null;
  /** Our path of the section's value. */
  path: string | null;
  hasElse: boolean;
  pieces: Piece[];
};

/** The blocks that are open, from the outermost. */
export type OpenBlocks = Block[];

export const PATH = /^[A-Za-z_$][\w$-]*(?:\.[\w$-]+)*$/;
/** The parser of templates permits no more. */
const blocksDeepMax = 10;

/** Whether names are fields of the item of a list here. */
export const isInList = (open: OpenBlocks): boolean =>
  open.some(({ kind, hasElse }) => kind === "each" && !hasElse);

/** Our path of the value whose fields the names are: that of a section of Mustachio, null for none. */
export function scopeOf(open: OpenBlocks): string | null {
  const around = open.findLast(({ kind, hasElse }) => kind === "section" || (kind === "each" && !hasElse));
  return around?.path ?? null;
}

/**
 * Converts a tag that begins, divides or ends a block, and keeps `open` up to date. Null for another tag.
 * `resolve` returns our path of a name, or null. Only blocks with the same meaning here map; the parts of
 * others are reported one by one, so that what is left remains valid.
 */
export function convertBlockTag(
  open: OpenBlocks,
  piece: Piece,
  content: string,
  language: TagRules["blocks"],
  resolve: (name: string) => string | null,
): Converted | null {
  const written = content.replace(/^~|~$/g, "").trim();
  const hasControl = written !== content;
  const [word = "", ...args] = written.slice(1).trim().split(/\s+/);
  switch (written[0]) {
    case "#": {
      const found = hasControl ? null : kindOf(language, word, args);
      const path = found && resolve(found.name);
      const isTooDeep = open.filter(({ kind }) => kind !== null).length >= blocksDeepMax;
      const kind = found && path !== null && !isTooDeep ? found.kind : null;
      open.push({ word, kind, path: kind === "section" ? path : null, hasElse: false, pieces: [piece] });
      if (kind !== null) return { text: `{{#${kind === "each" ? "each" : "if"} ${path}}}` };
      if (hasControl) return { reason: "Whitespace control" };
      if (isTooDeep) return { reason: `More than ${blocksDeepMax} blocks inside one another` };
      return { reason: word === "if" || word === "each" ? `An expression in \`${word}\`` : blockOf(word) };
    }
    case "^":
      if (word !== "") open.push({ word, kind: null, path: null, hasElse: false, pieces: [piece] });
      else if (open.length > 0) closeElse(open);
      return { reason: "An inverted block (`^`)" };
    case "/":
      return hasControl ? endBlock(open, word, "Whitespace control") : endBlock(open, word, null);
    default:
      return /^else\b/.test(written) ? convertElse(open, piece, written, hasControl) : null;
  }
}

const blockOf = (word: string): string => `The block \`${word.slice(0, 40)}\``;

/** The kind of a block that exists here, and the name of its value. */
function kindOf(
  language: TagRules["blocks"],
  word: string,
  args: readonly string[],
): { kind: "if" | "each" | "section"; name: string } | null {
  const [name, extra] = args;
  if (language === null || extra !== undefined) return null;
  if (name === undefined)
    return language === "mustachio" && PATH.test(word) ? { kind: "section", name: word } : null;
  if (word === "each" || (word === "if" && language === "handlebars")) return { kind: word, name };
  return null;
}

function convertElse(open: OpenBlocks, piece: Piece, written: string, hasControl: boolean): Converted {
  const block = open.at(-1);
  const isMapped = block?.kind === "if" || block?.kind === "each";
  if (isMapped && !block.hasElse && written === "else" && !hasControl) {
    block.hasElse = true;
    block.pieces.push(piece);
    return { text: "{{else}}" };
  }
  closeElse(open);
  return { reason: written === "else" ? "`else`" : "`else` with a condition" };
}

/** After a division that does not map, no other one can. */
function closeElse(open: OpenBlocks): void {
  const block = open.at(-1);
  if (block) block.hasElse = true;
}

function endBlock(open: OpenBlocks, word: string, fault: string | null): Converted {
  const own = open.findLastIndex((block) => block.word === word);
  const block = open[own];
  if (!block) return { reason: "The end of a block" };
  rejectOpenBlocks(open.splice(own + 1));
  open.pop();
  if (fault !== null) rejectOpenBlocks([block]);
  if (fault !== null || block.kind === null) return { reason: fault ?? "The end of a block" };
  return { text: block.kind === "each" ? "{{/each}}" : "{{/if}}" };
}

/** Rejects all tags of blocks that are not closed. */
export function rejectOpenBlocks(blocks: OpenBlocks): void {
  for (const { kind, pieces } of blocks)
    if (kind !== null) for (const piece of pieces) piece.result = { reason: "A block that is not closed" };
}
