import type { CheckKey } from "#db/schema/domains";
import { readDmarc } from "#server/mail/dmarc";
import { registeredDomainOf } from "#server/mail/registered-domain";
import type { Domain } from "./read";
import { returnPathHostOf } from "./records";

/** What a receiver makes of the domain's mail under DMARC (RFC 7489 section 3.1), each in a sentence. */
export type Alignment = {
  /** Whether mail passes by one of the two at least; null before anybody looked. */
  passes: boolean | null;
  dkim: string;
  spf: string;
  policy: string;
};

/** Says by the last look how the domain's mail stands under DMARC. */
export function sayAlignment(domain: Domain): Alignment {
  const { name, checks } = domain;
  const isInOrder = (key: CheckKey) =>
    checks.some((check) => check.key === key && check.status === "verified");
  const dmarc = checks.find(({ key }) => key === "dmarc");
  const isInherited = dmarc !== undefined && dmarc.askedName !== `_dmarc.${name}`;
  const reading = dmarc ? readDmarc(dmarc.answers, isInherited) : ({ kind: "none" } as const);
  const policy = reading.kind === "policy" ? reading.policy : null;
  const hasDkim = isInOrder("dkim");
  const hasSpf = isInOrder("spf") && policy?.isSpfStrict !== true;
  const returnPath = returnPathHostOf(domain);
  return {
    passes: checks.length === 0 ? null : hasDkim || hasSpf,
    dkim: hasDkim
      ? `Mail is signed as ${name} itself, which counts under any policy.`
      : `Mail will be signed as ${name} itself. It counts once receivers find the key.`,
    spf: policy?.isSpfStrict
      ? `The policy has aspf=s: the return path ${returnPath} is not ${name} itself, so SPF does not count. The signature alone carries the mail.`
      : isInOrder("spf")
        ? `Bounces go to ${returnPath}, which is below ${registeredDomainOf(name)}, so SPF counts as the domain's own.`
        : `Bounces go to ${returnPath}. Once its SPF record is in order it counts as the domain's own.`,
    policy: sayPolicy(policy?.policy ?? null, { name, isInherited, hasLooked: dmarc !== undefined }),
  };
}

const POLICIES = {
  none: "asks receivers to deliver mail that fails, and only to report it",
  quarantine: "asks receivers to put mail that fails among spam",
  reject: "asks receivers to refuse mail that fails",
} as const;

function sayPolicy(
  policy: keyof typeof POLICIES | null,
  { name, isInherited, hasLooked }: { name: string; isInherited: boolean; hasLooked: boolean },
): string {
  if (!hasLooked) return "Nobody has looked for a policy yet.";
  if (policy === null)
    return "There is no policy that counts. Large receivers ask one of whoever sends much.";
  const where = isInherited ? ` It stands at ${registeredDomainOf(name)} and holds below it.` : "";
  return `The policy p=${policy} ${POLICIES[policy]}.${where}`;
}
