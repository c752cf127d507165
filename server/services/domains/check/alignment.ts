import type { CheckKey } from "#db/schema/domains";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { readDmarc } from "#server/mail/dns/dmarc";
import type { Domain } from "../read";
import { returnPathHostOf } from "./records";

/**
 * How receivers evaluate the domain's email under DMARC (RFC 7489 section 3.1), from the last check: each
 * part in one sentence. `passes`: whether DKIM or SPF passes; null before the first check. `isSpfListed`: the
 * records to publish include SPF for the return path.
 */
export function describeAlignment(domain: Domain, isSpfListed: boolean) {
  const { name, checks } = domain;
  const isVerified = (key: CheckKey) =>
    checks.some((check) => check.key === key && check.status === "verified");
  const dmarc = checks.find(({ key }) => key === "dmarc");
  const isInherited = dmarc !== undefined && dmarc.askedName !== `_dmarc.${name}`;
  const reading = dmarc ? readDmarc(dmarc.answers, isInherited) : ({ kind: "none" } as const);
  const policy = reading.kind === "policy" ? reading.policy : null;
  const hasDkim = isVerified("dkim");
  const hasSpf = isVerified("spf") && policy?.isSpfStrict !== true;
  const returnPath = returnPathHostOf(domain);
  return {
    passes: checks.length === 0 ? null : hasDkim || hasSpf,
    dkim: hasDkim
      ? `Email is signed as ${name} itself, which is aligned under any policy.`
      : `Email is signed with \`d=${name}\`. DKIM is aligned once the key is published.`,
    spf: policy?.isSpfStrict
      ? `The policy has \`aspf=s\`: the return path ${returnPath} is not ${name} itself, so SPF is not aligned. DMARC depends on DKIM alone.`
      : isVerified("spf")
        ? `The return path is ${returnPath}, which is below ${getRegisteredDomain(name)}, so SPF is aligned.`
        : isSpfListed
          ? `The return path is ${returnPath}. SPF is aligned once its SPF record is correct.`
          : `The return path is ${returnPath}, for which no SPF record is listed. Without one, DMARC depends on DKIM alone.`,
    policy: describePolicy(policy?.policy ?? null, { name, isInherited, isChecked: dmarc !== undefined }),
  };
}

const POLICIES = {
  none: "asks receivers to deliver failing email and only report it",
  quarantine: "asks receivers to deliver failing email to the spam folder",
  reject: "asks receivers to reject failing email",
} as const;

function describePolicy(
  policy: keyof typeof POLICIES | null,
  { name, isInherited, isChecked }: { name: string; isInherited: boolean; isChecked: boolean },
): string {
  if (!isChecked) return "The DMARC policy has not been checked yet.";
  if (policy === null)
    return "There is no valid DMARC policy. Large receivers require one from bulk senders.";
  const where = isInherited
    ? ` It is published at ${getRegisteredDomain(name)} and applies to its subdomains.`
    : "";
  return `The policy \`p=${policy}\` ${POLICIES[policy]}.${where}`;
}
