import { formatDkimRecord, isDkimRecord, isDkimRecordOf } from "#server/mail/dkim/key";
import type { QueryDns } from "#server/mail/dns/dns";
import { isSpfRecord, type SpfWalk, spfLookupsMax, walkSpf } from "#server/mail/dns/spf";
import type { DomainRecord } from "#server/shared/wire/domain";
import type { Domain } from "../read";
import { explainAbsence, type Finding, noFault, textsOf, withFault } from "./absence";
import { isOwnershipText } from "./records";

/** The finding for one record, and the resolver that answered. */
export type RecordResult = { resolver: string; finding: Finding };

type TextRule = { isCorrect(text: string): boolean; isCandidate(text: string): boolean; isUnique: boolean };

/** Checks one record of a domain, by the rule of its kind. */
export function checkRecord(query: QueryDns, domain: Domain, record: DomainRecord): Promise<RecordResult> {
  switch (record.key) {
    case "dkim":
    case "dkim_next":
    case "dkim_ed25519":
    case "dkim_retired": {
      const key = domain.dkimKeys.find(
        ({ algorithm, publicKey }) => record.value === formatDkimRecord(algorithm, publicKey),
      );
      const isCorrect = (text: string) =>
        key !== undefined && isDkimRecordOf(text, key.algorithm, key.publicKey);
      return checkText(query, domain, record, { isCorrect, isCandidate: isDkimRecord, isUnique: true });
    }
    case "ownership": {
      const isCorrect = (text: string) => text === record.value;
      return checkText(query, domain, record, { isCorrect, isCandidate: isOwnershipText, isUnique: false });
    }
    case "mx":
      return checkMx(query, domain, record);
    case "tracking":
      return checkCname(query, domain, record);
    case "spf":
      return checkOwnSpf(query, domain, record);
  }
}

async function checkText(
  query: QueryDns,
  domain: Domain,
  { host, value }: DomainRecord,
  rule: TextRule,
): Promise<RecordResult> {
  const answer = await query(host, "TXT");
  const { resolver } = answer;
  if (answer.kind !== "answer")
    return { resolver, finding: await explainAbsence(query, domain.name, answer) };
  return { resolver, finding: evaluateTexts(textsOf(answer), value, rule) };
}

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

async function checkMx(
  query: QueryDns,
  domain: Domain,
  { host, value }: DomainRecord,
): Promise<RecordResult> {
  const answer = await query(host, "MX");
  const { resolver } = answer;
  if (answer.kind !== "answer")
    return { resolver, finding: await explainAbsence(query, domain.name, answer) };
  const best = Math.min(...answer.records.map(({ priority }) => priority));
  const isOurs = answer.records.some(
    ({ priority, exchange }) => priority === best && exchange.toLowerCase() === value,
  );
  const texts = textsOf(answer);
  return { resolver, finding: isOurs ? noFault(texts) : withFault("wrong_value", texts) };
}

async function checkCname(
  query: QueryDns,
  domain: Domain,
  { host, value }: DomainRecord,
): Promise<RecordResult> {
  const answer = await query(host, "CNAME");
  const { resolver } = answer;
  if (answer.kind !== "answer")
    return { resolver, finding: await explainAbsence(query, domain.name, answer) };
  const texts = textsOf(answer);
  const isOurs = texts.some((text) => text.toLowerCase() === value);
  return { resolver, finding: isOurs ? noFault(texts) : withFault("wrong_value", texts) };
}

async function checkOwnSpf(
  query: QueryDns,
  domain: Domain,
  { host, value }: DomainRecord,
): Promise<RecordResult> {
  const result = await checkSpf(query, host);
  const { answer, resolver, texts, walk } = result;
  if (answer.kind !== "answer")
    return { resolver, finding: await explainAbsence(query, domain.name, answer) };
  if (result.fault) return { resolver, finding: withFault(result.fault, texts) };
  const [, term = ""] = value.split(" ");
  if (walk?.passing.has(term)) return { resolver, finding: noFault(texts) };
  if (texts.some((text) => isSpfRecord(unquoted(text)) && !isSpfRecord(text)))
    return { resolver, finding: withFault("quoted_value", texts) };
  // The strings of one record are joined without a space, so a missing space merges two terms.
  const spaced = answer.records.map((strings) => strings.join(" ")).find(isSpfRecord);
  if (spaced?.toLowerCase().split(/\s+/).includes(term))
    return { resolver, finding: withFault("split_value", texts) };
  if (walk?.isPartial) return { resolver, finding: withFault("servfail", texts) };
  return { resolver, finding: withFault(walk ? "wrong_value" : "missing", texts) };
}

/**
 * Checks the SPF record at a name for faults that do not depend on its expected value; `fault` is null if
 * there are none.
 */
export async function checkSpf(query: QueryDns, host: string) {
  const answer = await query(host, "TXT");
  const texts = textsOf(answer);
  const records = texts.filter(isSpfRecord);
  const [record] = records;
  const walk: SpfWalk | null = record === undefined ? null : await walkSpf(query, record);
  const fault =
    records.length > 1
      ? ("several_spf" as const)
      : walk && walk.lookups > spfLookupsMax
        ? ("too_many_lookups" as const)
        : null;
  return { answer, resolver: answer.resolver, texts, walk, fault };
}
