import type { FaultName } from "#server/services/domains/faults";
import type { DomainHealth, DomainRecordView } from "#server/trpc/domain-views";
import type { Tone } from "../_ui/statuses";

type Word = { label: string; tone: Tone; means: string };

/** How a domain is, in a word and in a sentence. */
export const HEALTH: Record<DomainHealth, Word> = {
  verified: { label: "Verified", tone: "good", means: "Everything that was looked at is in order." },
  advice: { label: "Verified", tone: "good", means: "Mail goes out; something beside it could be better." },
  declared: {
    label: "Declared",
    tone: "good",
    means: "The operator says that it is in order; DNS is not asked.",
  },
  built_in: { label: "Built in", tone: "mute", means: "For trying things out: every team has it." },
  failing: {
    label: "Failing",
    tone: "warn",
    means: "Still verified, but the last looks found a fault. Mend it before the verification is lost.",
  },
  new: { label: "To set up", tone: "mute", means: "Its records are to be published." },
  waiting: { label: "Waiting for DNS", tone: "info", means: "Some records do not show yet." },
  faulty: { label: "Not in order", tone: "bad", means: "Some records are not what they should be." },
};

/** Where one record stands. */
export const RECORD_STATUS: Record<DomainRecordView["status"], Word> = {
  not_started: { label: "Not looked at", tone: "mute", means: "Nobody has looked yet." },
  pending: { label: "Not there yet", tone: "info", means: "Name servers do not show it." },
  verified: { label: "In order", tone: "good", means: "It was seen as it should be." },
  failed: { label: "Fault", tone: "bad", means: "It is not what it should be." },
  temporary_failure: {
    label: "No answer",
    tone: "warn",
    means: "Name servers could not tell just now. It is looked at again.",
  },
};

/** What a record is for, in plain words. */
export const PURPOSE: Record<DomainRecordView["purpose"], { title: string; why: string }> = {
  dkim: {
    title: "Signature key (DKIM)",
    why: "With it receivers see that a mail is yours, and that nobody changed it.",
  },
  dkim_next: {
    title: "Next signature key (DKIM)",
    why: "It takes over by itself once it is seen. Until then the key before it signs.",
  },
  dkim_ed25519: {
    title: "Second signature key (DKIM, Ed25519)",
    why: "For receivers that know the newer kind. Nobody has to publish it.",
  },
  dkim_retired: {
    title: "Earlier signature key (DKIM)",
    why: "Mail that is still under way was signed with it. Leave it until its time is over.",
  },
  ownership: {
    title: "Proof of ownership",
    why: "It shows that whoever added the domain here also runs it.",
  },
  mx: {
    title: "Return of bounces (MX)",
    why: "What cannot be delivered comes back by it, so that you see why.",
  },
  spf: { title: "Permission to send (SPF)", why: "It names the server that may send with your return path." },
  tracking: { title: "Tracked links (CNAME)", why: "Opens and clicks are counted under your own name." },
  domain_spf: {
    title: "SPF of the domain itself",
    why: "Yours and not asked for here; it is looked at only for what makes it void.",
  },
  dmarc: {
    title: "Policy for mail that fails (DMARC)",
    why: "Advice: large receivers ask it of whoever sends to many.",
  },
};

/** The faults that the look knows, each in a few words; the advice beside says what to do. */
export const FAULT_WORDS: Record<FaultName, string> = {
  missing: "Nothing there yet",
  wrong_value: "Another value stands there",
  doubled_name: "The domain stands twice in the name",
  quoted_value: "Quotation marks became part of the value",
  split_value: "The value was split",
  truncated_value: "The value was cut off",
  several_records: "Several keys under one name",
  several_spf: "Two SPF records",
  too_many_lookups: "SPF needs too many look-ups",
  proxied_cname: "Hidden behind a proxy or a CNAME",
  dmarc_missing: "No DMARC policy",
  dmarc_unaligned: "DMARC would not pass",
  dmarc_invalid: "The DMARC record names no policy",
  several_dmarc: "Two DMARC records",
  servfail: "The name servers failed",
  timeout: "The name servers did not answer",
};

/** A fault by its name; one that is not known here stands for itself. */
export const sayFault = (fault: string): string =>
  fault in FAULT_WORDS ? FAULT_WORDS[fault as FaultName] : fault.replaceAll("_", " ");

/** Every this many milliseconds a page asks again while a look may change what it shows. */
export const askAgainMs = 4_000;
