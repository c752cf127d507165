import { formatDkimRecord, isDkimRecord, isDkimRecordOf } from "#server/mail/dkim/key";
import type { DnsAnswer, QueryDns } from "#server/mail/dns/dns";
import type { DomainRecord } from "#server/shared/wire/domain";
import type { Domain } from "../read";
import { explainAbsence, type Finding, noFault, textsOf, withFault } from "./absence";
import { checkSpf, type SendingHost } from "./policies/spf";
import { isOwnershipText } from "./records";

/**
 * Checks one record of a domain. Returns the finding, and the resolver that answered. `sender` is the host
 * for which SPF is evaluated.
 */
export async function checkRecord(
  query: QueryDns,
  domain: Domain,
  record: DomainRecord,
  sender: SendingHost | null = null,
): Promise<{ resolver: string; finding: Finding }> {
  const answer = await query(record.host, record.type);
  const finding =
    answer.kind === "answer"
      ? await evaluateAnswer(query, domain, record, answer, sender)
      : await explainAbsence(query, domain.name, answer);
  return { resolver: answer.resolver, finding };
}

type Answer = Extract<DnsAnswer, { kind: "answer" }>;

/** Evaluates the published records by the rule of their kind. */
async function evaluateAnswer(
  query: QueryDns,
  domain: Domain,
  { key: kind, value }: DomainRecord,
  answer: Answer,
  sender: SendingHost | null,
): Promise<Finding> {
  const texts = textsOf(answer);
  switch (kind) {
    case "dkim":
    case "dkim_next":
    case "dkim_ed25519":
    case "dkim_retired": {
      const key = domain.dkimKeys.find(
        ({ algorithm, publicKey }) => value === formatDkimRecord(algorithm, publicKey),
      );
      const isCorrect = (text: string) =>
        key !== undefined && isDkimRecordOf(text, key.algorithm, key.publicKey);
      return evaluateTexts(texts, value, { isCorrect, isCandidate: isDkimRecord, isUnique: true });
    }
    case "ownership": {
      const isCorrect = (text: string) => text === value;
      return evaluateTexts(texts, value, { isCorrect, isCandidate: isOwnershipText, isUnique: false });
    }
    case "mx": {
      const hosts = answer.records.filter((record) => typeof record === "object" && "exchange" in record);
      const best = Math.min(...hosts.map(({ priority }) => priority));
      const isOurs = hosts.some(
        ({ priority, exchange }) => priority === best && exchange.toLowerCase() === value,
      );
      return isOurs ? noFault(texts) : withFault("wrong_value", texts);
    }
    case "tracking": {
      const isOurs = texts.some((text) => text.toLowerCase() === value);
      return isOurs ? noFault(texts) : withFault("wrong_value", texts);
    }
    case "spf":
      return checkSpf(query, answer, sender);
  }
}

type TextRule = { isCorrect(text: string): boolean; isCandidate(text: string): boolean; isUnique: boolean };

/** Finds the fault of a TXT record, from the correct value to the usual mistakes of DNS panels and users. */
function evaluateTexts(
  texts: string[],
  expected: string,
  { isCorrect, isCandidate, isUnique }: TextRule,
): Finding {
  const meant = texts.filter(isCandidate);
  if (texts.some(isCorrect))
    return isUnique && meant.length > 1 ? withFault("several_records", texts) : noFault(texts);
  if (texts.some((text) => isCorrect(unquoted(text)))) return withFault("quoted_value", texts);
  const pieces = texts.map(bare);
  const whole = bare(expected);
  if (pieces.includes(whole) || joinsTo(pieces, whole)) return withFault("split_value", texts);
  if (pieces.some((piece) => piece.length >= prefixCharsMin && whole.startsWith(piece)))
    return withFault("truncated_value", texts);
  return withFault(meant.length > 0 ? "wrong_value" : "missing", texts);
}

/** Shorter prefixes only identify the kind of record. */
const prefixCharsMin = 40;

const unquoted = (text: string): string => text.trim().replace(/^\\?"([^"]*)\\?"$/, "$1");
const bare = (text: string): string => text.replace(/["\\\s]/g, "");

/**
 * Whether the pieces, in some order, form the whole value and each is needed: a value published as several
 * records.
 */
function joinsTo(pieces: string[], whole: string): boolean {
  const left = pieces.filter((piece) => piece !== "" && whole.includes(piece));
  let at = 0;
  while (at < whole.length) {
    const next = left.findIndex((piece) => whole.startsWith(piece, at));
    const [piece] = next === -1 ? [] : left.splice(next, 1);
    if (piece === undefined) return false;
    at += piece.length;
  }
  return true;
}
