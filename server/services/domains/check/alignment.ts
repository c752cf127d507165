import type { Deps } from "#server/deps";
import { getRegisteredDomain } from "#server/mail/address/registered-domain";
import { parseDmarc } from "#server/mail/dns/dmarc";
import type { Domain } from "../read";
import { receivesBounces, returnPathDomainOf, returnPathHostOf } from "../return-path";

type Installation = Pick<Deps, "names" | "policy" | "transportKind">;

/**
 * How receivers evaluate the domain's email under DMARC (RFC 7489 section 3.1), from the last check: each
 * part in one sentence. `verdict`: by DKIM alone, because the servers that SPF would have to list are not
 * known; null before the first check.
 */
export function describeAlignment(domain: Domain, installation: Installation) {
  const { name, checks } = domain;
  const hasDkim = checks.some(({ key, status }) => key === "dkim" && status === "verified");
  const dmarc = checks.find(({ key }) => key === "dmarc");
  const isInherited = dmarc !== undefined && dmarc.askedName !== `_dmarc.${name}`;
  const reading = dmarc ? parseDmarc(dmarc.answers, isInherited) : ({ kind: "none" } as const);
  const policy = reading.kind === "policy" ? reading.policy : null;
  return {
    verdict: verdictOf(checks.length > 0, hasDkim, policy !== null),
    dkim: hasDkim
      ? `Email is signed as ${name} itself, which is aligned under any policy.`
      : `Email is signed with \`d=${name}\`. DKIM is aligned once the key is published.`,
    spf: describeSpf(domain, installation, policy?.isSpfStrict === true),
    policy: describePolicy(policy?.policy ?? null, { name, isInherited, isChecked: dmarc !== undefined }),
  };
}

function verdictOf(isChecked: boolean, hasDkim: boolean, hasPolicy: boolean) {
  if (!isChecked) return null;
  if (!hasDkim) return "fails" as const;
  return hasPolicy ? ("passes" as const) : ("no_policy" as const);
}

/** SPF is about the domain of the return path (RFC 7208 section 2.4), which must align with the sender's. */
function describeSpf(domain: Domain, installation: Installation, isStrict: boolean): string {
  const { name, ownReturnPath, isRelayed } = domain;
  const { names, transportKind } = installation;
  const isDirect = transportKind === "direct" && !isRelayed;
  const host = returnPathDomainOf(installation, domain, isDirect);
  const isOwn = isDirect && ownReturnPath !== null;
  const becomesOwn = isDirect && !isOwn && names.mailHost !== null && receivesBounces(installation);
  const change = becomesOwn
    ? ` The return path of new email is an address of ${returnPathHostOf(domain)} as soon as a check finds the MX and SPF records there.`
    : "";
  if (host === null)
    return `The return path is the sender. SPF is aligned if the SPF record of ${name} lists the servers that send the email.${change}`;
  const zone = getRegisteredDomain(name);
  const isAligned = isStrict ? host === name : getRegisteredDomain(host) === zone;
  const where = `The return path is an address of ${host}.`;
  if (isAligned && isOwn) return `${where} SPF is aligned: its SPF record lists ${names.mailHost}.`;
  if (isAligned)
    return `${where} SPF is aligned if its SPF record lists the servers that send the email.${change}`;
  const why = isStrict
    ? `the policy has \`aspf=s\`, and this is not ${name} itself`
    : `it is not below ${zone}`;
  return `${where} SPF is not aligned, because ${why}. DMARC depends on DKIM alone.${change}`;
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
