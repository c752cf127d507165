import { changeDmarc, type DmarcPolicy, isDmarcRecord, parseDmarc } from "#server/mail/dns/dmarc";
import { formatShare } from "#server/shared/text/share";
import type { Domain } from "../domains/read";

/** Messages that claim to be from a domain, of the last 30 days, by what receivers reported. */
export type Shares = {
  total: number;
  /** Sent by this installation: aligned, and not aligned. */
  ours: number;
  oursUnaligned: number;
  /** From other sources: aligned, and not aligned. */
  others: number;
  othersUnaligned: number;
  /** Days (UTC) with reports. */
  days: number;
};

type Policy = DmarcPolicy["policy"];

/** What must be reported before a stricter policy is advised. */
const daysMin = 14;
const messagesMin = 100;
const alignedShareMin = 0.98;

const STRICTER: Record<Policy, Policy | null> = { none: "quarantine", quarantine: "reject", reject: null };

/**
 * The DMARC record to publish next, and why; `record` is null if the published one should stay. It asks for
 * reports first, then for a stricter policy, one step at a time.
 */
export function advisePolicy(
  { name, checks }: Pick<Domain, "name" | "checks">,
  address: string | null,
  shares: Shares,
): { host: string; record: string | null; reason: string } {
  const host = `_dmarc.${name}`;
  const stay = (reason: string) => ({ host, record: null, reason });
  const check = checks.find(({ key }) => key === "dmarc");
  if (!check) return stay("The DMARC policy has not been checked yet.");
  const published = check.answers.find(isDmarcRecord);
  const reading = parseDmarc(check.answers, check.askedName !== host);
  const next = (policy: Policy, reason: string) => {
    const record = changeDmarc(published ?? "v=DMARC1;", policy, address);
    return { host, record: record === published ? null : record, reason };
  };
  if (reading.kind !== "policy" || published === undefined)
    return next(
      "none",
      "No valid DMARC policy was found. This one changes no delivery and asks for reports.",
    );
  const { policy } = reading.policy;
  if (address !== null && !published.includes(address.split("@", 1)[0] ?? address))
    return next(policy, "The published record does not send reports to this installation. This one does.");
  const stricter = STRICTER[policy];
  if (stricter === null)
    return stay("The policy is `p=reject`, the strictest one. Email that is not aligned is rejected.");
  const { total, days } = shares;
  if (days < daysMin || total < messagesMin)
    return stay(
      `Keep \`p=${policy}\`. Reports of ${days} of ${daysMin} days and of ${total.toLocaleString("en")} of ${messagesMin} messages were received, which is too little for \`p=${stricter}\`.`,
    );
  const aligned = (shares.ours + shares.others) / total;
  if (aligned >= alignedShareMin)
    return next(
      stricter,
      `${formatShare(aligned)} of the reported messages are aligned. Publish \`p=${stricter}\`.`,
    );
  const own =
    shares.oursUnaligned > 0
      ? "Correct the DKIM and return path records first: some of your own email is not aligned."
      : "Let the sources below that are yours sign with DKIM. If the others are forgeries, a stricter policy is what makes receivers reject them.";
  return stay(
    `Keep \`p=${policy}\`. ${formatShare(aligned)} of the reported messages are aligned, and \`p=${stricter}\` needs ${formatShare(alignedShareMin)}. ${own}`,
  );
}
