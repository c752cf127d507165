import type { CheckKey, RecordCheck } from "#db/schema/domains";
import type { Deps } from "#server/deps";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { parseDmarc } from "#server/mail/dns/dmarc";
import type { QueryDns } from "#server/mail/dns/dns";
import { isSpfRecord } from "#server/mail/dns/spf";
import type { Domain } from "../read";
import { explainAbsence, type Finding, noFault, textsOf, withFault } from "./absence";
import { FAULTS, type FaultName } from "./faults";
import { DMARC_ADVISED, labelIn, recordsOf, returnPathHostOf } from "./records";
import { checkRecord, evaluateSpf } from "./records-in-dns";

/** The time limit for checking all records of a domain, in ms. */
export const checkMsMax = 15_000;

/**
 * Queries DNS for every record of a domain and returns one check per record: the name queried, the resolver
 * that answered, the expected value, and the fault by name. A missing record is `pending`, a failed lookup is
 * `temporary_failure`, any other fault is `failed`. The result also holds the owner's own SPF records, if
 * there are any, and DMARC.
 */
export async function checkDomainRecords(
  deps: Pick<Deps, "dns" | "names" | "transportKind">,
  domain: Domain,
  stopping?: AbortSignal,
): Promise<RecordCheck[]> {
  const timeout = AbortSignal.timeout(checkMsMax);
  const signal = stopping ? AbortSignal.any([timeout, stopping]) : timeout;
  const query: QueryDns = (name, type) => deps.dns(name, type, signal);
  const records = recordsOf(domain, deps);
  const published = Promise.all(
    records.map(async (record) => {
      const { resolver, finding } = await checkRecord(query, domain, record);
      return checkOf({ ...record, resolver, expected: record.value, domain }, finding);
    }),
  );
  const own = [checkForeignSpf(query, domain, "domain_spf", domain.name)];
  if (!records.some(({ key }) => key === "spf"))
    own.push(checkForeignSpf(query, domain, "spf", returnPathHostOf(domain)));
  const dmarc = checkDmarc(query, domain, published);
  const related = (await Promise.all(own)).filter((check) => check !== null);
  return [...(await published), ...related, await dmarc];
}

/** An SPF record whose content we do not specify is checked only for faults that make it invalid. */
async function checkForeignSpf(
  query: QueryDns,
  domain: Domain,
  key: CheckKey,
  host: string,
): Promise<RecordCheck | null> {
  const answer = await query(host, "TXT");
  const { texts, fault } = await evaluateSpf(query, answer);
  const answers = texts.filter(isSpfRecord);
  if (answers.length === 0) return null;
  const request = { key, host, type: "TXT", resolver: answer.resolver, expected: null, domain };
  return checkOf(request, { fault, answers, found: "" });
}

/** DMARC at the domain, else at the registered domain above it (RFC 7489 section 6.6.3). */
async function checkDmarc(
  query: QueryDns,
  domain: Domain,
  published: Promise<RecordCheck[]>,
): Promise<RecordCheck> {
  const own = await query(`_dmarc.${domain.name}`, "TXT");
  const above = getRegisteredDomain(domain.name);
  const isAbsent = parseDmarc(textsOf(own), false).kind === "none";
  const isInherited = isAbsent && above !== domain.name && own.kind !== "servfail" && own.kind !== "timeout";
  const answer = isInherited ? await query(`_dmarc.${above}`, "TXT") : own;
  const texts = textsOf(answer);
  const reading = parseDmarc(texts, isInherited);
  const findFault = async (): Promise<Finding> => {
    switch (reading.kind) {
      case "several":
        return withFault("several_dmarc", texts);
      case "invalid":
        return withFault("dmarc_invalid", texts);
      case "policy": {
        const why = whyUnaligned(reading.policy, await published);
        return why === null ? noFault(texts) : withFault("dmarc_unaligned", texts, why);
      }
      case "none": {
        const absence = own.kind === "answer" ? null : await explainAbsence(query, domain.name, own);
        return absence && absence.fault !== "missing" ? absence : withFault("dmarc_missing", texts);
      }
    }
  };
  const host = isInherited && answer.kind === "answer" ? answer.name : own.name;
  const { resolver } = answer;
  const request = { key: "dmarc", host, type: "TXT", resolver, expected: DMARC_ADVISED, domain } as const;
  return checkOf(request, await findFault());
}

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
  if (isVerified("dkim") || isVerified("spf")) return null;
  return `The policy is p=${policy}, and neither the DKIM key nor SPF for the return path is published correctly.`;
}

type CheckRequest = Pick<RecordCheck, "key" | "type" | "resolver" | "expected"> & {
  host: string;
  domain: Domain;
};

function checkOf(
  { key, host, type, resolver, expected, domain }: CheckRequest,
  { fault, answers, found }: Finding,
): RecordCheck {
  const facts = { host, label: labelIn(domain.name, host), expected: expected ?? "", found };
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
