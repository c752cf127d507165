import type { EmailRow, RecipientView } from "#server/trpc/emails/views";

export type Status = EmailRow["status"] | RecipientView["status"];
export type Tone = "good" | "bad" | "warn" | "info" | "mute";

type StatusInfo = {
  label: string;
  tone: Tone;
  /** What the status means, in one sentence. */
  description: string;
  /** Refetch interval of a page that shows the status, in milliseconds; null if the status rarely changes. */
  refetchMs: number | null;
};

/** Label, color, description and refetch interval of every status. */
export const STATUSES: Record<Status, StatusInfo> = {
  queued: {
    label: "Queued",
    tone: "info",
    description: "Accepted and queued for sending.",
    refetchMs: 2_000,
  },
  sending: {
    label: "Sending",
    tone: "info",
    description: "A worker is sending it now.",
    refetchMs: 1_000,
  },
  deferred: {
    label: "Deferred",
    tone: "warn",
    description: "Temporarily rejected. It is retried automatically.",
    refetchMs: 5_000,
  },
  scheduled: { label: "Scheduled", tone: "mute", description: "Scheduled for later.", refetchMs: 15_000 },
  sent: { label: "Sent", tone: "good", description: "The mail server accepted it.", refetchMs: null },
  delivered: {
    label: "Delivered",
    tone: "good",
    description: "The destination confirmed it.",
    refetchMs: null,
  },
  bounced: {
    label: "Bounced",
    tone: "bad",
    description: "Permanently rejected by the destination.",
    refetchMs: null,
  },
  complained: {
    label: "Complained",
    tone: "bad",
    description: "The recipient marked it as spam.",
    refetchMs: null,
  },
  failed: {
    label: "Failed",
    tone: "bad",
    description: "All attempts failed, or the service rejected it.",
    refetchMs: null,
  },
  unknown: {
    label: "Unknown",
    tone: "warn",
    description: "Unknown outcome: the mail server did not confirm or reject it.",
    refetchMs: 15_000,
  },
  suppressed: {
    label: "Suppressed",
    tone: "mute",
    description: "Not sent: the recipient is suppressed.",
    refetchMs: null,
  },
  canceled: { label: "Canceled", tone: "mute", description: "Canceled before it was sent.", refetchMs: null },
};

/** The statuses of an email, in the order of the filter. */
export const EMAIL_STATUS_NAMES = [
  "queued",
  "sending",
  "deferred",
  "scheduled",
  "sent",
  "delivered",
  "bounced",
  "complained",
  "failed",
  "unknown",
  "suppressed",
  "canceled",
] as const satisfies readonly EmailRow["status"][];

/** Older entries rarely change soon, so they are refetched less often. */
const recentMs = 120_000;
const slowRefetchMs = 10_000;

/**
 * The refetch interval for entries with these statuses, in milliseconds: the shortest interval of all of them. Null if no
 * status has one. `since` is in ISO 8601.

 */
export function refetchIntervalMs(entries: readonly { status: Status; since: string }[]): number | null {
  const intervals = entries.flatMap(({ status, since }) => {
    const interval = STATUSES[status].refetchMs;
    if (interval === null) return [];
    return Date.now() - Date.parse(since) > recentMs ? Math.max(interval, slowRefetchMs) : interval;
  });
  return intervals.length > 0 ? Math.min(...intervals) : null;
}
