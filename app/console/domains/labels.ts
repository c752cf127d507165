import type { FaultName } from "#server/services/domains/check/faults";
import type { DomainHealth, DomainRecordView } from "#server/trpc/domains/views";
import type { Label } from "../_ui/text/badge";

/** The health of a domain: badge and tooltip. */
export const HEALTH: Record<DomainHealth, Label> = {
  verified: { label: "Verified", tone: "good", description: "All checked records are correct." },
  advice: {
    label: "Verified",
    tone: "good",
    description: "All required records are correct. A recommended record needs attention.",
  },
  declared: {
    label: "Verified manually",
    tone: "info",
    description: "The operator verified this domain. DNS checks do not change its status.",
  },
  built_in: { label: "Built in", tone: "mute", description: "For testing. Every team has it." },
  failing: {
    label: "Failing",
    tone: "warn",
    description: "Still verified, but recent checks failed. Correct the records to keep the verification.",
  },
  new: { label: "Not started", tone: "mute", description: "Publish its DNS records, then verify them." },
  waiting: { label: "Awaiting DNS", tone: "info", description: "Some records are not visible in DNS yet." },
  faulty: { label: "Invalid records", tone: "bad", description: "Some records have incorrect values." },
};

/** The verification status of one record: badge and tooltip. */
export const RECORD_STATUS: Record<DomainRecordView["status"], Label> = {
  not_started: { label: "Not checked", tone: "mute", description: "This record has not been checked yet." },
  pending: { label: "Awaiting DNS", tone: "info", description: "The record is not visible in DNS yet." },
  verified: { label: "Verified", tone: "good", description: "The record has the expected value." },
  failed: { label: "Invalid", tone: "bad", description: "The record does not have the expected value." },
  temporary_failure: {
    label: "Check failed",
    tone: "warn",
    description: "The name servers failed or did not respond. The check is retried automatically.",
  },
};

/** The purpose of each record. */
export const PURPOSE: Record<DomainRecordView["purpose"], { title: string; why: string }> = {
  dkim: {
    title: "DKIM key (RSA)",
    why: "Receiving servers use it to verify that email is from your domain and was not modified.",
  },
  dkim_next: {
    title: "Next DKIM key",
    why: "It becomes active automatically when its record is found. Until then the current key signs.",
  },
  dkim_ed25519: {
    title: "DKIM key (Ed25519)",
    why: "For receiving servers that support Ed25519 signatures. Publishing it is optional.",
  },
  dkim_retired: {
    title: "Retired DKIM key",
    why: "Email that is still being delivered was signed with this key. Do not remove the record yet.",
  },
  ownership: { title: "Domain ownership (TXT)", why: "Proves that your team controls the domain." },
  mx: {
    title: "Return path (MX)",
    why: "Bounce messages are sent to this host. They contain the reason why a delivery failed.",
  },
  spf: { title: "Return path (SPF)", why: "It lists the servers that may send with your return path." },
  tracking: { title: "Tracking (CNAME)", why: "Tracked links and images use your own host name." },
  tracking_https: {
    title: "Tracking (HTTPS)",
    why: "Links in new email use your own host name once it serves them over HTTPS.",
  },
  domain_spf: {
    title: "SPF of the domain",
    why: "Your own SPF record. It is optional, and checked only for errors that make it invalid.",
  },
  dmarc: { title: "DMARC policy", why: "Recommended. Large mailbox providers require it from bulk senders." },
};

/** The faults that a check detects, in a few words. The advice beside it explains the correction. */
const FAULT_LABELS: Record<FaultName, string> = {
  missing: "Record not found",
  wrong_value: "Unexpected value",
  doubled_name: "Domain appears twice in the name",
  quoted_value: "Value contains quotation marks",
  split_value: "Value was split",
  truncated_value: "Value was truncated",
  several_records: "Multiple keys at one name",
  several_spf: "Multiple SPF records",
  too_many_lookups: "SPF needs too many DNS lookups",
  proxied_cname: "Hidden by a proxy or a CNAME",
  dmarc_missing: "No DMARC policy",
  dmarc_unaligned: "DMARC would fail",
  spf_invalid: "Invalid SPF record",
  spf_ignored: "SPF terms without effect",
  spf_open: "SPF allows every server",
  spf_no_address: "Sending host without an address",
  dmarc_invalid: "DMARC record without a policy",
  dmarc_syntax: "DMARC record with errors",
  dmarc_reports: "Invalid address for DMARC reports",
  dmarc_report_unauthorized: "DMARC reports not allowed by recipient",
  several_dmarc: "Multiple DMARC records",
  links_not_served: "HTTPS does not serve links yet",
  held_elsewhere: "Verified by another team",
  servfail: "Name servers failed (SERVFAIL)",
  timeout: "Name servers timed out",
};

/** The label of a fault. For a name without a label: the name itself, with spaces. */
export const formatFault = (fault: string): string =>
  fault in FAULT_LABELS ? FAULT_LABELS[fault as FaultName] : fault.replaceAll("_", " ");

/** Milliseconds between refetches while a DNS check can change the page. */
export const refetchMs = 4_000;

/**
 * The domain in what a user pastes or types: an address, a URL or a name. A `www.` in front of a URL's host
 * is removed, because it names a web server. Text without a domain is returned as it is, for the error to
 * name it.
 */
export function domainIn(text: string): string {
  const trimmed = text.trim();
  const isUrl = trimmed.includes("/");
  const address = isUrl ? trimmed : trimmed.slice(trimmed.lastIndexOf("@") + 1).replace(/>$/, "");
  if (!isUrl && !address.includes(":")) return address;
  try {
    const { hostname } = new URL(address.includes("://") ? address : `https://${address}`);
    return hostname.startsWith("www.") ? hostname.slice("www.".length) : hostname;
  } catch {
    return trimmed;
  }
}

/**
 * What replaces the field when a URL or an address is pasted. Null for other text, which can be a part of a
 * name: the browser inserts it at the cursor.
 */
export const pastedDomain = (text: string): string | null => (/[/@]/.test(text) ? domainIn(text) : null);
