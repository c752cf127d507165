import type { ReplyClass } from "#server/shared/reply-classes";
import { BASIC_CODES, ENHANCED_CODES } from "./codes";
import { PLAIN_WORDS, SUBJECTS, VAGUE_WORDS, type WordRule } from "./rules";

/** The part of a string that the search needs; tests count the calls. */
export type Searchable = Pick<string, "indexOf">;

/** The parts of a reply that determine its class. */
type ReplyParts = { code: number | null; enhanced: string | null; text: string };
/**
 * A text without the whole word `requiredWord` cannot contain the phrase. This check excludes most texts
 * cheaply.
 */
type Phrase = { requiredWord: string | null; pieces: readonly string[] };
type Rule = { class: ReplyClass; only: WordRule["only"]; phrases: readonly Phrase[] };
/** Normalized words, as one text and as a set. */
type Words = { text: string; set: ReadonlySet<string> };

const PLAIN = PLAIN_WORDS.map(prepareRule);
const VAGUE = VAGUE_WORDS.map(prepareRule);

/** Characters of a reply that are read. */
const READ_MAX = 1000;

/**
 * Returns why a server rejected or deferred an email. The order of precedence is: clear phrases, the detail
 * of the enhanced code, vague phrases, the subject of the enhanced code, the basic code. A code for an
 * unknown address ranks below vague phrases, because only `hard` has consequences for the recipient. Takes
 * linear time and reads the first 1000 characters.
 */
export function classifyReply({ code, enhanced, text }: ReplyParts, isPermanent: boolean): ReplyClass {
  const normalized = normalizeWords(text);
  const words = { text: normalized, set: new Set(normalized.split(" ")) };
  const plain = findClass(PLAIN, words, isPermanent);
  if (plain !== null) return plain;
  const byDetail = ENHANCED_CODES[enhanced?.slice(2) ?? ""]?.[1];
  const isHard = byDetail === "hard";
  if (byDetail !== undefined && !isHard) return byDetail;
  const vague = findClass(VAGUE, words, isPermanent);
  if (vague !== null) return vague;
  if (isHard) return isPermanent ? "hard" : "soft";
  const bySubject = SUBJECTS[enhanced?.split(".")[1] ?? ""];
  const basic = BASIC_CODES[code ?? 0]?.[1];
  const fallback = basic === "protocol" ? basic : (bySubject ?? basic ?? "other");
  return isPermanent || fallback === "protocol" ? fallback : "soft";
}

/** Normalizes a text to the form used in rules, with a space at both ends. An email address becomes "@". */
export function normalizeWords(text: string): string {
  const words = dropMarks(text.slice(0, READ_MAX).toLowerCase())
    .split(/\s/)
    .map((word) => (word.includes("@") ? "@" : word.replace(/[^\p{L}\p{N}]/gu, " ")))
    .join(" ")
    .split(" ")
    .filter((word) => word !== "");
  return ` ${words.join(" ")} `;
}

/** Whether the pieces occur in the text in this order. Reads each character at most once per piece. */
export function containsInOrder(text: Searchable, pieces: readonly string[]): boolean {
  let from = 0;
  for (const piece of pieces) {
    const at = text.indexOf(piece, from);
    if (at === -1) return false;
    // The space at the end of one piece may also start the next piece.
    from = at + piece.length - 1;
  }
  return true;
}

function findClass(rules: readonly Rule[], { text, set }: Words, isPermanent: boolean): ReplyClass | null {
  for (const { class: replyClass, only, phrases } of rules) {
    if (only !== undefined && (only === "permanent") !== isPermanent) continue;
    const matches = ({ requiredWord, pieces }: Phrase) =>
      (requiredWord === null || set.has(requiredWord)) && containsInOrder(text, pieces);
    if (phrases.some(matches)) return replyClass;
  }
  return null;
}

function prepareRule({ class: replyClass, only, phrases }: WordRule): Rule {
  const prepared = phrases
    .split(/[|\n]/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== "")
    .map(preparePhrase);
  return { class: replyClass, only, phrases: prepared };
}

function preparePhrase(phrase: string): Phrase {
  const pieces = phrase.split("…").map(preparePiece);
  return { requiredWord: /^ (\S+) /.exec(pieces[0] ?? "")?.[1] ?? null, pieces };
}

/** Chinese does not separate words with spaces, so such a piece gets no leading space. */
function preparePiece(piece: string): string {
  const words = dropMarks(piece).trim().replace(/_$/, " ");
  return /^\p{Script=Han}/u.test(words) ? words : ` ${words}`;
}

function dropMarks(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "");
}
