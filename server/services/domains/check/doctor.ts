import { setMaxListeners } from "node:events";
import type { CheckKey, RecordCheck } from "#db/schema/domains";
import type { Deps } from "#server/deps";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { createCachedDns } from "#server/mail/dns/cache";
import { isDmarcRecord, isMeantAsDmarc, parseDmarc, reviewDmarc } from "#server/mail/dns/dmarc";
import type { DnsAnswer, QueryDns } from "#server/mail/dns/dns";
import type { Domain } from "../read";
import type { ReportAddressDeps } from "../report-address";
import { isReturnPathPublished, returnPathHostOf } from "../return-path";
import { explainAbsence, type Finding, noFault, textsOf, withFault } from "./absence";
import { FAULTS, type FaultName } from "./faults";
import { findUnauthorizedReport } from "./policies/dmarc-reports";
import { checkSpf, findSendingHost, isMeantAsSpf, type SendingHost } from "./policies/spf";
import { dmarcRecordOf, labelIn, recordsOf } from "./records";
import { checkRecord } from "./records-in-dns";

/** The time limit for checking all records of a domain, in ms. */
export const checkMsMax = 15_000;

/**
 * Queries DNS for every record of a domain and returns one check per record: the name queried, the resolver
 * that answered, the expected value, and the fault by name. A missing record is `pending`, a failed lookup is
 * `temporary_failure`, any other fault is `failed`. The result also holds the owner's own SPF records, if
 * there are any, and DMARC.
 */
export async function checkDomainRecords(
  deps: Pick<Deps, "dns" | "transportKind"> & ReportAddressDeps,
  domain: Domain,
  stopping?: AbortSignal,
): Promise<RecordCheck[]> {
  const timeout = AbortSignal.timeout(checkMsMax);
  const signal = stopping ? AbortSignal.any([timeout, stopping]) : timeout;
  // Each query that waits listens to it.
  setMaxListeners(0, signal);
  // The evaluations of SPF share their lookups. The cache ends with this check.
  const query = createCachedDns((name, type) => deps.dns(name, type, signal));
  const records = recordsOf(domain, deps);
  const sendsItself = records.some(({ key }) => key === "spf");
  const { mailHost, returnPathDomain } = deps.names;
  const sender =
    sendsItself && mailHost ? findSendingHost(query, mailHost, deps.transportKind === "direct") : null;
  const published = Promise.all(
    records.map(async (record) => {
      const { resolver, finding } = await checkRecord(
        query,
        domain,
        record,
        record.key === "spf" ? await sender : null,
      );
      return checkOf({ ...record, resolver, expected: record.value, domain }, finding);
    }),
  );
  const own = [checkDomainSpf(query, domain, published, returnPathDomain === null ? sender : null)];
  if (!sendsItself) own.push(checkForeignSpf(query, domain, "spf", returnPathHostOf(domain), null));
  const dmarc = checkDmarc(query, domain, dmarcRecordOf(domain, deps), published);
  const related = (await Promise.all(own)).filter((check) => check !== null);
  return [...(await published), ...related, await dmarc];
}

/**
 * The domain's own SPF record. `sender`: the host whose return path is an address of the domain while the
 * return path below the domain is not complete; null if it never is.
 */
async function checkDomainSpf(
  query: QueryDns,
  domain: Domain,
  published: Promise<RecordCheck[]>,
  sender: Promise<SendingHost> | null,
): Promise<RecordCheck | null> {
  const checks = await published;
  const isReturnPath = checks.some(({ key, fault }) => (key === "spf" || key === "mx") && fault !== null);
  return checkForeignSpf(query, domain, "domain_spf", domain.name, isReturnPath ? await sender : null);
}

/** An SPF record that we do not specify. There may be none. */
async function checkForeignSpf(
  query: QueryDns,
  domain: Domain,
  key: CheckKey,
  host: string,
  sender: SendingHost | null,
): Promise<RecordCheck | null> {
  const answer = await query(host, "TXT");
  if (answer.kind !== "answer") return null;
  const finding = await checkSpf(query, answer, sender);
  const answers = finding.answers.filter(isMeantAsSpf);
  if (answers.length === 0) return null;
  const request = { key, host, type: "TXT", resolver: answer.resolver, expected: null, domain };
  return checkOf(request, { ...finding, answers });
}

/** DMARC at the domain, else at the registered domain above it (RFC 7489 section 6.6.3). */
async function checkDmarc(
  query: QueryDns,
  domain: Domain,
  expected: string,
  published: Promise<RecordCheck[]>,
): Promise<RecordCheck> {
  const own = await query(`_dmarc.${domain.name}`, "TXT");
  const above = getRegisteredDomain(domain.name);
  const hasOwn = above === domain.name || isUnknown(own) || textsOf(own).some(isDmarcRecord);
  const inherited = hasOwn ? own : await query(`_dmarc.${above}`, "TXT");
  const isInherited = inherited !== own && (isUnknown(inherited) || textsOf(inherited).some(isDmarcRecord));
  const answer = isInherited ? inherited : own;
  const texts = textsOf(answer);
  const reading = parseDmarc(texts, isInherited);
  const meant = texts.find(isDmarcRecord) ?? texts.find(isMeantAsDmarc);
  const review = meant === undefined ? null : reviewDmarc(meant);
  const fault = (name: FaultName, whys: string[]) =>
    withFault(name, texts, whys.slice(0, whysMax).join(" "), review?.corrected);
  const findFault = async (): Promise<Finding> => {
    if (answer.kind !== "answer") {
      const absence = await explainAbsence(query, domain.name, answer);
      return absence.fault === "missing" ? withFault("dmarc_missing", texts) : absence;
    }
    if (reading.kind === "several") return withFault("several_dmarc", texts, "", review?.corrected);
    if (!review || meant === undefined) return withFault("dmarc_missing", texts);
    if (review.policy.length > 0)
      return fault(reading.kind === "invalid" ? "dmarc_invalid" : "dmarc_syntax", review.policy);
    if (review.reports.length > 0) return fault("dmarc_reports", review.reports);
    const unauthorized = await findUnauthorizedReport(query, answer.name, meant);
    if (unauthorized) return withFault(unauthorized.fault, texts, unauthorized.found);
    const why = reading.kind === "policy" ? whyUnaligned(reading.policy, await published) : null;
    return why === null ? noFault(texts) : withFault("dmarc_unaligned", texts, why);
  };
  const host = answer.name;
  const { resolver } = answer;
  const request = { key: "dmarc", host, type: "TXT", resolver, expected, domain } as const;
  return checkOf(request, await findFault());
}

const isUnknown = ({ kind }: DnsAnswer): boolean => kind === "servfail" || kind === "timeout";
/** A record can have any number of faults. */
const whysMax = 5;

/**
 * Why email is not, or only partly, aligned although there is a policy (RFC 7489 section 3.1); null if it is
 * aligned.
 */
function whyUnaligned(
  { policy, isSpfStrict }: { policy: string; isSpfStrict: boolean },
  checks: RecordCheck[],
): string | null {
  const isVerified = (key: CheckKey) =>
    checks.some((check) => check.key === key && check.status === "verified");
  if (isSpfStrict)
    return "The policy has aspf=s, which requires the return path to be the domain itself. It is a subdomain, so SPF is never aligned and DMARC depends on DKIM alone.";
  if (isVerified("dkim") || isReturnPathPublished(checks)) return null;
  return `The policy is p=${policy}, and neither the DKIM key nor SPF for the return path is published correctly.`;
}

type CheckRequest = Pick<RecordCheck, "key" | "type" | "resolver" | "expected"> & {
  host: string;
  domain: Domain;
};

/** One check with its status and its advice. */
export function checkOf(
  { key, host, type, resolver, expected, domain }: CheckRequest,
  { fault, answers, found, corrected }: Finding,
): RecordCheck {
  const isShort = corrected !== undefined && corrected.length <= answerCharsMax;
  const facts = {
    host,
    label: labelIn(domain.name, host),
    expected: (isShort ? corrected : expected) ?? "",
    found: found.slice(0, answerCharsMax),
  };
  return {
    key,
    askedName: host,
    type,
    resolver,
    expected,
    answers: answers.slice(0, answersMax).map((text) => text.slice(0, answerCharsMax)),
    status: fault === null ? "verified" : (STATUS_OF_FAULT[fault] ?? "failed"),
    fault,
    advice: fault === null ? null : FAULTS[fault](facts),
  };
}

const STATUS_OF_FAULT: Partial<Record<FaultName, RecordCheck["status"]>> = {
  missing: "pending",
  servfail: "temporary_failure",
  timeout: "temporary_failure",
};

/** A name may hold 64 KB of records; this much is enough to explain any fault. */
const answersMax = 10;
const answerCharsMax = 1_000;
