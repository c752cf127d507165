import type { Reply } from "../outcome";
import type { ReplyClass } from "./classes";
import { BASIC_CODES, CODES, PLAIN_WORDS, SUBJECTS, VAGUE_WORDS, type WordRule } from "./rules";

/** All that the search asks of a text. */
export type Searchable = Pick<string, "indexOf">;

/** `needs` is a whole word without which the phrase cannot be there, if it has one: most texts are done with by that. */
type Phrase = { needs: string | null; pieces: readonly string[] };
type Rule = { class: ReplyClass; only: WordRule["only"]; phrases: readonly Phrase[] };
/** Folded words, as one text and as a set. */
type Words = { text: string; known: ReadonlySet<string> };

const PLAIN = PLAIN_WORDS.map(prepareRule);
const VAGUE = VAGUE_WORDS.map(prepareRule);

/** Characters of a reply that are read. */
const READ_MAX = 1000;

/**
 * What a refusal is about. Plain words decide first, then what the enhanced code names, then vague words, then whatever is
 * left of the codes. A code of a dead address yields to vague words that say otherwise: it is the only class that has
 * consequences for the recipient. Linear in the length of the text, of which the first 1000 characters are read.
 */
export function classifyReply({ code, enhanced, text }: Reply, isForGood: boolean): ReplyClass {
  const folded = foldWords(text);
  const words = { text: folded, known: new Set(folded.split(" ")) };
  const plain = findClass(PLAIN, words, isForGood);
  if (plain !== null) return plain;
  const named = enhanced === null ? undefined : CODES[enhanced.slice(2)];
  const isOfAddress = named === "hard";
  if (named !== undefined && !isOfAddress) return named;
  const vague = findClass(VAGUE, words, isForGood);
  if (vague !== null) return vague;
  if (isOfAddress) return isForGood ? "hard" : "soft";
  const suggested = enhanced === null ? undefined : SUBJECTS[enhanced.split(".")[1] ?? ""];
  const basic = BASIC_CODES[code ?? 0];
  const left = basic === "protocol" ? basic : (suggested ?? basic ?? "other");
  return isForGood || left === "protocol" ? left : "soft";
}

/** The words of a text as rules write them, with a blank at both ends. An address in it says nothing and becomes "@". */
export function foldWords(text: string): string {
  const words = dropMarks(text.slice(0, READ_MAX).toLowerCase())
    .split(/\s/)
    .map((word) => (word.includes("@") ? "@" : word.replace(/[^\p{L}\p{N}]/gu, " ")))
    .join(" ")
    .split(" ")
    .filter((word) => word !== "");
  return ` ${words.join(" ")} `;
}

/** Whether the pieces occur in the text in this order. Reads each character at most once per piece. */
export function holdsInOrder(text: Searchable, pieces: readonly string[]): boolean {
  let from = 0;
  for (const piece of pieces) {
    const at = text.indexOf(piece, from);
    if (at === -1) return false;
    // A blank at the end of one piece may be the one at the beginning of the next.
    from = at + piece.length - 1;
  }
  return true;
}

function findClass(rules: readonly Rule[], { text, known }: Words, isForGood: boolean): ReplyClass | null {
  for (const { class: found, only, phrases } of rules) {
    if (only !== undefined && (only === "for good") !== isForGood) continue;
    const holds = ({ needs, pieces }: Phrase) =>
      (needs === null || known.has(needs)) && holdsInOrder(text, pieces);
    if (phrases.some(holds)) return found;
  }
  return null;
}

function prepareRule({ class: told, only, says }: WordRule): Rule {
  const phrases = says
    .split(/[|\n]/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== "")
    .map(preparePhrase);
  return { class: told, only, phrases };
}

function preparePhrase(phrase: string): Phrase {
  const pieces = phrase.split("…").map(preparePiece);
  return { needs: /^ (\S+) /.exec(pieces[0] ?? "")?.[1] ?? null, pieces };
}

/** Chinese has no blanks between its words. */
function preparePiece(piece: string): string {
  const words = dropMarks(piece).trim().replace(/_$/, " ");
  return /^\p{Script=Han}/u.test(words) ? words : ` ${words}`;
}

function dropMarks(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "");
}
