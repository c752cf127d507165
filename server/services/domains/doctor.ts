import type { CheckKey, RecordCheck } from "#db/schema/domains";
import type { Deps } from "#server/deps";
import { readDmarc } from "#server/mail/dmarc";
import type { AskDns, DnsType } from "#server/mail/dns";
import { registeredDomainOf } from "#server/mail/registered-domain";
import { isSpfRecord } from "#server/mail/spf";
import { explainAbsence, type Finding, faulty, inOrder, textsOf } from "./absence";
import { FAULTS, type FaultName } from "./faults";
import { lookAt, lookAtSpf } from "./look";
import type { Domain } from "./read";
import { DMARC_ADVISED, labelIn, recordsOf, returnPathHostOf } from "./records";

/** A look at all records of a domain ends after this, whatever its name servers do. */
export const lookMsMax = 15_000;

/**
 * Asks DNS for everything that a domain should have published, and tells of each what was asked, whose answer it was, what
 * was expected, and the fault by name. A missing record is `pending`, one that nobody could tell about just now
 * `temporary_failure`, any other fault `failed`. Besides come SPF records that are the owner's own, where there are
 * any, and DMARC.
 */
export async function examineDomain(
  deps: Pick<Deps, "dns" | "names" | "transportKind">,
  domain: Domain,
  stopping?: AbortSignal,
): Promise<RecordCheck[]> {
  const late = AbortSignal.timeout(lookMsMax);
  const signal = stopping ? AbortSignal.any([late, stopping]) : late;
  const ask: AskDns = (name, type) => deps.dns(name, type, signal);
  const records = recordsOf(domain, deps);
  const published = Promise.all(
    records.map(async (record) => {
      const { resolver, finding } = await lookAt(ask, domain, record);
      const { key, host, type, value } = record;
      return checkOf({ key, host, type, resolver, expected: value, domain }, finding);
    }),
  );
  const own = [lookAtForeignSpf(ask, domain, "domain_spf", domain.name)];
  if (!records.some(({ key }) => key === "spf"))
    own.push(lookAtForeignSpf(ask, domain, "spf", returnPathHostOf(domain)));
  const dmarc = lookAtDmarc(ask, domain, published);
  const beside = (await Promise.all(own)).filter((check) => check !== null);
  return [...(await published), ...beside, await dmarc];
}

/** An SPF record that is not ours to name is only looked at for what makes it void. */
async function lookAtForeignSpf(
  ask: AskDns,
  domain: Domain,
  key: CheckKey,
  host: string,
): Promise<RecordCheck | null> {
  const { resolver, texts, fault } = await lookAtSpf(ask, host);
  const answers = texts.filter(isSpfRecord);
  if (answers.length === 0) return null;
  const asked = { key, host, type: "TXT" as const, resolver, expected: null, domain };
  return checkOf(asked, fault ? faulty(fault, answers) : inOrder(answers));
}

/** DMARC at the domain, else at the registered domain above it (RFC 7489 section 6.6.3). */
async function lookAtDmarc(
  ask: AskDns,
  domain: Domain,
  published: Promise<RecordCheck[]>,
): Promise<RecordCheck> {
  const own = await ask(`_dmarc.${domain.name}`, "TXT");
  const above = registeredDomainOf(domain.name);
  const isAbsent = readDmarc(textsOf(own), false).kind === "none";
  const isInherited = isAbsent && above !== domain.name && own.kind !== "servfail" && own.kind !== "timeout";
  const answer = isInherited ? await ask(`_dmarc.${above}`, "TXT") : own;
  const { resolver } = answer;
  const asked = {
    key: "dmarc",
    host: isInherited && answer.kind === "answer" ? answer.name : own.name,
    type: "TXT",
    resolver,
    expected: DMARC_ADVISED,
    domain,
  } as const;
  const texts = textsOf(answer);
  const reading = readDmarc(texts, isInherited);
  switch (reading.kind) {
    case "several":
      return checkOf(asked, faulty("several_dmarc", texts));
    case "invalid":
      return checkOf(asked, faulty("dmarc_invalid", texts));
    case "policy": {
      const why = whyUnaligned(reading.policy, await published);
      return checkOf(asked, why === null ? inOrder(texts) : faulty("dmarc_unaligned", texts, why));
    }
    case "none": {
      const absence = own.kind === "answer" ? null : await explainAbsence(ask, domain.name, own);
      return checkOf(
        asked,
        absence && absence.fault !== "missing" ? absence : faulty("dmarc_missing", texts),
      );
    }
  }
}

/** Why mail would not, or only by half, count as the domain's own although there is a policy (RFC 7489 section 3.1). */
function whyUnaligned(
  { policy, isSpfStrict }: { policy: string; isSpfStrict: boolean },
  checks: RecordCheck[],
): string | null {
  const isVerified = (key: CheckKey) =>
    checks.some((check) => check.key === key && check.status === "verified");
  if (isSpfStrict)
    return "The policy has aspf=s, under which a return path below the domain is not the domain's: SPF never counts, and DKIM alone carries the mail.";
  if (isVerified("dkim") || isVerified("spf")) return null;
  return `The policy is p=${policy}, and neither the DKIM key nor SPF for the return path is published as it should be.`;
}

type Asked = {
  key: CheckKey;
  host: string;
  type: DnsType;
  resolver: string;
  expected: string | null;
  domain: Domain;
};

function checkOf(
  { key, host, type, resolver, expected, domain }: Asked,
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

/** A name may hold 64 KB of records; this much of them explains anything. */
const answersMax = 10;
const answerCharsMax = 1_000;
