/** A phrase as its pieces in order, each by the number of its set of alternatives. */
type Phrase<Row> = { rest: readonly number[]; row: Row };
/** One character of an alternative. `ends` are the sets whose alternative ends here. */
type Node = { next: Map<number, Node>; ends: number[] };

export type PhraseIndex<Row> = {
  /** All alternatives of all sets by their characters. */
  root: Node;
  /** The phrases by the set of their first piece. */
  byFirst: ReadonlyMap<number, readonly Phrase<Row>[]>;
};

/** The part of a string that the search needs; tests count the calls. */
export type Searchable = Pick<string, "charCodeAt" | "length">;

/** Characters of a reply that are read. */
const READ_MAX = 1000;
/** Occurrences of one set of alternatives that count. */
const HITS_MAX = 30;
const SPACE = 32;
/** The first character of the scripts that do not separate words with spaces. */
const UNSPACED_FROM = 0x2e80;
/** Characters between two pieces of a phrase: about eight words. */
const GAP_MAX = 60;

/** Normalizes a text to the form used in phrases, with a space at both ends. An email address becomes "@". */
export function normalizeWords(text: string): string {
  const read = dropMarks(text.slice(0, READ_MAX).toLowerCase());
  const words = read.includes("@")
    ? read
        .split(/\s/)
        .map((word) => (word.includes("@") ? "@" : word))
        .join(" ")
    : read;
  const separated = isAscii(words)
    ? words.replace(/[^a-z0-9@]+/g, " ")
    : words.replace(/[^\p{L}\p{N}@]+/gu, " ");
  return ` ${separated.trim()} `;
}

/** Indexes the phrases of rows, whose syntax is described in `rules.ts`. */
export function indexPhrases<Row extends { phrases: string }>(rows: readonly Row[]): PhraseIndex<Row> {
  const root: Node = { next: new Map(), ends: [] };
  const sets = new Map<string, number>();
  const byFirst = new Map<number, Phrase<Row>[]>();
  const numberOf = (alternatives: readonly string[]): number => {
    const key = alternatives.join("/");
    const known = sets.get(key);
    if (known !== undefined) return known;
    const set = sets.size;
    sets.set(key, set);
    for (const alternative of alternatives) insert(root, alternative).ends.push(set);
    return set;
  };
  for (const row of rows)
    for (const [first = [], ...rest] of parsePhrases(row.phrases)) {
      const set = numberOf(first);
      byFirst.set(set, [...(byFirst.get(set) ?? []), { rest: rest.map(numberOf), row }]);
    }
  return { root, byFirst };
}

function insert(root: Node, text: string): Node {
  let node = root;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const next = node.next.get(code) ?? { next: new Map(), ends: [] };
    node.next.set(code, next);
    node = next;
  }
  return node;
}

/**
 * Calls `visit` with the row of each phrase in a normalized text, if the row is wanted. Reads the text once,
 * and from each word on at most the length of the longest alternative.
 */
export function visitPhrases<Row>(
  { root, byFirst }: PhraseIndex<Row>,
  text: Searchable,
  isWanted: (row: Row) => boolean,
  visit: (row: Row) => void,
): void {
  const hits = findAlternatives(root, text);
  for (const [set, found] of hits)
    for (const { rest, row } of byFirst.get(set) ?? [])
      if (isWanted(row) && (rest.length === 0 || found.some((hit) => hasRest(hits, hit.end, rest))))
        visit(row);
}

type Hit = { at: number; end: number };

/** Where the alternatives of each set occur, in the order of the text. */
function findAlternatives(root: Node, text: Searchable): Map<number, Hit[]> {
  const hits = new Map<number, Hit[]>();
  for (let at = 0; at < text.length; at++) {
    const start = text.charCodeAt(at);
    if (start !== SPACE && start < UNSPACED_FROM) continue;
    let node = root.next.get(start);
    for (let end = at + 1; node; node = node.next.get(text.charCodeAt(end++)))
      for (const set of node.ends) {
        const found = hits.get(set);
        if (!found) hits.set(set, [{ at, end }]);
        else if (found.length < HITS_MAX) found.push({ at, end });
      }
  }
  return hits;
}

/** Whether the pieces follow from this position, each within the gap after the one before. */
function hasRest(hits: ReadonlyMap<number, readonly Hit[]>, from: number, rest: readonly number[]): boolean {
  let end = from;
  for (const set of rest) {
    // The space at the end of one piece may also start the next piece.
    const next = findFrom(hits.get(set) ?? [], end - 1);
    if (!next || next.at > end + GAP_MAX) return false;
    end = next.end;
  }
  return true;
}

/** The first hit at this position or after it, by binary search. */
function findFrom(hits: readonly Hit[], from: number): Hit | undefined {
  let low = 0;
  for (let high = hits.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((hits[middle]?.at ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return hits[low];
}

/** Each phrase as its pieces, and each piece as its alternatives. */
export const parsePhrases = (phrases: string): string[][][] =>
  phrases
    .split(/[|\n]/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== "")
    .map((phrase) => phrase.split("…").map((piece) => expand(piece.trim()).map(preparePiece)));

/** The alternatives of a piece: all combinations of those in braces. */
function expand(piece: string): string[] {
  const opened = piece.indexOf("{");
  if (opened === -1) return [piece];
  const closed = piece.indexOf("}", opened);
  const tails = expand(piece.slice(closed + 1));
  return piece
    .slice(opened + 1, closed)
    .split("/")
    .flatMap((each) => tails.map((tail) => `${piece.slice(0, opened)}${each.trim()}${tail}`));
}

/** Chinese and Japanese do not separate words with spaces, so such a piece gets no leading space. */
function preparePiece(piece: string): string {
  const words = dropMarks(piece).trim().replace(/_$/, " ").replaceAll("_ ", " ");
  return /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(words) ? words : ` ${words}`;
}

const isAscii = (text: string): boolean => !/[^ -~]/.test(text);

const dropMarks = (text: string): string =>
  isAscii(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "");
