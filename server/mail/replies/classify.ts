import type { ReplyClass } from "#server/shared/reply-classes";
import { CLEAR_RULES } from "./clear-rules";
import { BASIC_CODES, DEAD_CODES, ENHANCED_CODES } from "./codes";
import { indexPhrases, normalizeWords, visitPhrases } from "./phrases";
import { PROVIDER_RULES } from "./provider-rules";
import type { ReplyRule } from "./rules";
import { VAGUE_RULES } from "./vague-rules";

/** The parts of a reply that determine its class. */
export type ReplyParts = { code: number | null; enhanced: string | null; text: string };

/**
 * Why a server rejected or deferred an email. `rule` names the row that decided: a row of the tables, such as
 * `mailbox_unknown`, or a code, such as `code 5.1.1`. `isDead` means that the address will never accept
 * email.
 */
export type Classification = { class: ReplyClass; rule: string; isDead: boolean };

type Ranked = ReplyRule & { rank: number; isVague: boolean };

/** All rows in the order of their precedence. */
export const RULES: readonly ReplyRule[] = [...PROVIDER_RULES, ...CLEAR_RULES, ...VAGUE_RULES];
const INDEX = indexPhrases(
  RULES.map((rule, rank): Ranked => ({ ...rule, rank, isVague: rank >= RULES.length - VAGUE_RULES.length })),
);

/** Class by subject alone, used if neither the detail nor the text identifies one. */
const SUBJECTS: Readonly<Record<string, ReplyClass>> = {
  "1": "hard",
  "2": "other",
  "3": "soft",
  "4": "soft",
  "5": "protocol",
  "6": "content",
  "7": "policy",
};

/**
 * Classifies a reply. The order of precedence is: the provider's own codes, clear phrases, the detail of the
 * enhanced code, vague phrases, the subject of the enhanced code, the basic code. A code for an unknown
 * address ranks below vague phrases, because only `hard` has consequences for the recipient. Takes linear
 * time and reads the first 1000 characters.
 */
export function classifyReply(reply: ReplyParts, isPermanent: boolean): Classification {
  const { code, enhanced } = reply;
  const text = normalizeWords(reply.text);
  const { clear, vague } = findRules(text, isPermanent);
  const byCode = { rule: `code ${enhanced ?? code}`, isDead: isDeadCode(reply) };
  if (clear) {
    const isDead = clear.class === "hard" && (clear.suppresses ? isCertain(reply, text) : byCode.isDead);
    return { class: clear.class, rule: clear.name, isDead };
  }
  const byDetail = ENHANCED_CODES[enhanced?.slice(2) ?? ""]?.[1];
  const isHard = byDetail === "hard" || byCode.isDead;
  if (byDetail !== undefined && !isHard) return { ...byCode, class: byDetail };
  if (vague) return { class: vague.class, rule: vague.name, isDead: vague.class === "hard" && byCode.isDead };
  if (isHard) return { ...byCode, class: isPermanent ? "hard" : "soft" };
  const bySubject = SUBJECTS[enhanced?.split(".")[1] ?? ""];
  const basic = BASIC_CODES[code ?? 0]?.[1];
  const fallback = basic === "protocol" ? basic : (bySubject ?? basic ?? "other");
  return { ...byCode, class: isPermanent || fallback === "protocol" ? fallback : "soft" };
}

function findRules(text: string, isPermanent: boolean) {
  let clear: Ranked | null = null;
  let vague: Ranked | null = null;
  visitPhrases(
    INDEX,
    text,
    ({ rank, isVague, when }) =>
      rank < ((isVague ? vague : clear)?.rank ?? Number.POSITIVE_INFINITY) &&
      (when === undefined || (when === "permanent") === isPermanent),
    (rule) => {
      if (rule.isVague) vague = rule;
      else clear = rule;
    },
  );
  return { clear, vague } as { clear: Ranked | null; vague: Ranked | null };
}

const isDeadCode = ({ code, enhanced }: ReplyParts): boolean =>
  DEAD_CODES.has(enhanced ?? "") || DEAD_CODES.has(`${code} ${enhanced}`);

/** Words of a temporary state, or of another subject than the recipient: the address may exist. */
const DOUBTS =
  ` temporar | try again | later | deferred | sender | return path | from header | password | signature
  ip address | your ip | helo | ehlo | hostname | client host | greylist`
    .split(/[|\n]/)
    .map((words) => ` ${words.trim()}`);

/** Neither a word nor a temporary enhanced code gives reason to doubt a permanent rejection. */
const isCertain = ({ enhanced }: ReplyParts, text: string): boolean =>
  !enhanced?.startsWith("4.") && !DOUBTS.some((words) => text.includes(words));
