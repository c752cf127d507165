import { formatDkimRecord, isDkimRecord, isDkimRecordOf } from "#server/mail/dkim/key";
import type { AskDns } from "#server/mail/dns";
import { isSpfRecord, type SpfWalk, spfLookupsMax, walkSpf } from "#server/mail/spf";
import { explainAbsence, type Finding, faulty, inOrder, textsOf } from "./absence";
import type { Domain } from "./read";
import { type DomainRecord, isOwnershipText } from "./records";

/** One answer and what it shows. `resolver` is whose answer it was. */
export type Looked = { resolver: string; finding: Finding };

type TextRule = { isRight(text: string): boolean; isMeant(text: string): boolean; isAlone: boolean };

/** How each of a domain's own records is looked at. */
export function lookAt(ask: AskDns, domain: Domain, record: DomainRecord): Promise<Looked> {
  switch (record.key) {
    case "dkim":
    case "dkim_next":
    case "dkim_ed25519":
    case "dkim_retired": {
      const key = domain.dkimKeys.find(
        ({ algorithm, publicKey }) => record.value === formatDkimRecord(algorithm, publicKey),
      );
      const isRight = (text: string) =>
        key !== undefined && isDkimRecordOf(text, key.algorithm, key.publicKey);
      return lookAtText(ask, domain, record, { isRight, isMeant: isDkimRecord, isAlone: true });
    }
    case "ownership": {
      const isRight = (text: string) => text === record.value;
      return lookAtText(ask, domain, record, { isRight, isMeant: isOwnershipText, isAlone: false });
    }
    case "mx":
      return lookAtMx(ask, domain, record);
    case "tracking":
      return lookAtCname(ask, domain, record);
    case "spf":
      return lookAtOwnSpf(ask, domain, record);
  }
}

async function lookAtText(
  ask: AskDns,
  domain: Domain,
  { host, value }: DomainRecord,
  rule: TextRule,
): Promise<Looked> {
  const answer = await ask(host, "TXT");
  const { resolver } = answer;
  if (answer.kind !== "answer") return { resolver, finding: await explainAbsence(ask, domain.name, answer) };
  return { resolver, finding: judgeTexts(textsOf(answer), value, rule) };
}

/** From the right value to the usual ways in which panels and people spoil it. */
function judgeTexts(texts: string[], expected: string, { isRight, isMeant, isAlone }: TextRule): Finding {
  const meant = texts.filter(isMeant);
  if (texts.some(isRight))
    return isAlone && meant.length > 1 ? faulty("several_records", texts) : inOrder(texts);
  if (texts.some((text) => isRight(unquoted(text)))) return faulty("quoted_value", texts);
  const pieces = texts.map(bare);
  const whole = bare(expected);
  if (pieces.includes(whole) || joinsTo(pieces, whole)) return faulty("split_value", texts);
  if (pieces.some((piece) => piece.length >= prefixCharsMin && whole.startsWith(piece)))
    return faulty("truncated_value", texts);
  return faulty(meant.length > 0 ? "wrong_value" : "missing", texts);
}

/** Shorter beginnings say only which kind of record it is. */
const prefixCharsMin = 40;

const unquoted = (text: string): string => text.trim().replace(/^\\?"([^"]*)\\?"$/, "$1");
const bare = (text: string): string => text.replace(/["\\\s]/g, "");

/** Whether the pieces, in some order, are the whole, and each is needed: a value published as several records. */
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

async function lookAtMx(ask: AskDns, domain: Domain, { host, value }: DomainRecord): Promise<Looked> {
  const answer = await ask(host, "MX");
  const { resolver } = answer;
  if (answer.kind !== "answer") return { resolver, finding: await explainAbsence(ask, domain.name, answer) };
  const best = Math.min(...answer.records.map(({ priority }) => priority));
  const isOurs = answer.records.some(
    ({ priority, exchange }) => priority === best && exchange.toLowerCase() === value,
  );
  const texts = textsOf(answer);
  return { resolver, finding: isOurs ? inOrder(texts) : faulty("wrong_value", texts) };
}

async function lookAtCname(ask: AskDns, domain: Domain, { host, value }: DomainRecord): Promise<Looked> {
  const answer = await ask(host, "CNAME");
  const { resolver } = answer;
  if (answer.kind !== "answer") return { resolver, finding: await explainAbsence(ask, domain.name, answer) };
  const texts = textsOf(answer);
  const isOurs = texts.some((text) => text.toLowerCase() === value);
  return { resolver, finding: isOurs ? inOrder(texts) : faulty("wrong_value", texts) };
}

async function lookAtOwnSpf(ask: AskDns, domain: Domain, { host, value }: DomainRecord): Promise<Looked> {
  const looked = await lookAtSpf(ask, host);
  const { answer, resolver, texts, walk } = looked;
  if (answer.kind !== "answer") return { resolver, finding: await explainAbsence(ask, domain.name, answer) };
  if (looked.fault) return { resolver, finding: faulty(looked.fault, texts) };
  const [, term = ""] = value.split(" ");
  if (walk?.passing.has(term)) return { resolver, finding: inOrder(texts) };
  if (texts.some((text) => isSpfRecord(unquoted(text)) && !isSpfRecord(text)))
    return { resolver, finding: faulty("quoted_value", texts) };
  // Strings of one record are joined without a blank between them, so one that is missing glues two terms together.
  const spaced = answer.records.map((strings) => strings.join(" ")).find(isSpfRecord);
  if (spaced?.toLowerCase().split(/\s+/).includes(term))
    return { resolver, finding: faulty("split_value", texts) };
  if (walk?.isPartial) return { resolver, finding: faulty("servfail", texts) };
  return { resolver, finding: faulty(walk ? "wrong_value" : "missing", texts) };
}

/** What is wrong with the SPF record at a name whatever it should say; null for `fault` where nothing is. */
export async function lookAtSpf(ask: AskDns, host: string) {
  const answer = await ask(host, "TXT");
  const texts = textsOf(answer);
  const records = texts.filter(isSpfRecord);
  const [record] = records;
  const walk: SpfWalk | null = record === undefined ? null : await walkSpf(ask, record);
  const fault =
    records.length > 1
      ? ("several_spf" as const)
      : walk && walk.lookups > spfLookupsMax
        ? ("too_many_lookups" as const)
        : null;
  return { answer, resolver: answer.resolver, texts, walk, fault };
}
