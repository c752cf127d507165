import type { DeliveryStatus } from "#db/schema/deliveries";
import type { EmailStatus, Engagement } from "#db/schema/emails";
import type { EventType } from "#db/schema/events";

export type Status = EmailStatus | DeliveryStatus;
type Tone = "good" | "bad" | "warn" | "info" | "mute";

/**
 * Label, color and meaning of every status of an email or a recipient, in the order of the console's filter.
 */
export const STATUSES: Record<Status, { label: string; tone: Tone; description: string }> = {
  queued: { label: "Queued", tone: "info", description: "Accepted and queued for sending." },
  sending: { label: "Sending", tone: "info", description: "A worker is sending it now." },
  deferred: {
    label: "Deferred",
    tone: "warn",
    description: "Temporarily rejected. It is retried automatically.",
  },
  scheduled: { label: "Scheduled", tone: "mute", description: "Scheduled for later." },
  sent: { label: "Sent", tone: "good", description: "The mail server accepted it." },
  delivered: { label: "Delivered", tone: "good", description: "The destination confirmed it." },
  bounced: { label: "Bounced", tone: "bad", description: "Permanently rejected by the destination." },
  complained: { label: "Complained", tone: "bad", description: "The recipient marked it as spam." },
  failed: { label: "Failed", tone: "bad", description: "All attempts failed, or the service rejected it." },
  unknown: {
    label: "Unknown",
    tone: "warn",
    description: "Unknown outcome: the mail server did not confirm or reject it.",
  },
  suppressed: { label: "Suppressed", tone: "mute", description: "Not sent: the recipient is suppressed." },
  canceled: { label: "Canceled", tone: "mute", description: "Canceled before it was sent." },
};

/** The state of all email to real recipients in capture mode. Its recipients count as delivered. */
export const CAPTURED = "Email is captured and not sent.";
/** How an operator ends capture mode. It is the default in development. */
export const CAPTURED_ADVICE =
  "To send new email, set SMTP_URL to an SMTP server or to direct: and restart, or run `npm start` without it and add a relay.";

/** Label and color of each event type. */
export const EVENTS: Record<EventType, { label: string; tone: Tone }> = {
  "email.queued": { label: "Accepted", tone: "info" },
  "email.sent": { label: "Sent", tone: "good" },
  "email.delivered": { label: "Delivered", tone: "good" },
  "email.delivery_delayed": { label: "Deferred", tone: "warn" },
  "email.bounced": { label: "Bounced", tone: "bad" },
  "email.complained": { label: "Complained", tone: "bad" },
  "email.complaint_claimed": { label: "Possible complaint", tone: "warn" },
  "email.auto_replied": { label: "Automatic reply", tone: "info" },
  "email.failed": { label: "Failed", tone: "bad" },
  "email.suppressed": { label: "Suppressed", tone: "mute" },
  "email.scheduled": { label: "Scheduled", tone: "mute" },
  "email.canceled": { label: "Canceled", tone: "mute" },
  "email.unknown": { label: "Unknown", tone: "warn" },
  "email.opened": { label: "Opened", tone: "info" },
  "email.clicked": { label: "Clicked", tone: "info" },
};

/** A reply of a mail server as it is written in SMTP: "451 4.7.1 Try again later". Null without a reply. */
export const formatReply = (
  reply: { code: number | null; enhanced: string | null; text: string | null } | null | undefined,
): string | null =>
  (reply &&
    [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== "").join(" ")) ||
  null;

/** The queue in one sentence for when no email is queued or sending: how many wait for another reason. */
export function describeIdleQueue(
  counts: Readonly<Record<"deferred" | "scheduled" | "unknown", number>>,
  isComplete: boolean,
): string {
  const waiting = (["deferred", "scheduled", "unknown"] as const)
    .filter((status) => counts[status] > 0)
    .map((status) => `${formatCount(counts[status], isComplete)} ${status}`);
  return waiting.length === 0 ? "Queue is empty." : `No email is queued or sending; ${waiting.join(", ")}.`;
}

/** A count in a queue; `12+` if the queue is longer than what was counted. */
export const formatCount = (count: number, isComplete: boolean): string =>
  `${count.toLocaleString("en")}${isComplete || count === 0 ? "" : "+"}`;

/** A tag, or its name alone, which stands for all its values. */
export type TagFilter = { name: string; value?: string };

const TAG = /^([A-Za-z0-9_-]{1,256})(?::([A-Za-z0-9_-]{1,256}))?$/;

/** A tag as it is written everywhere: `name:value`. */
export const formatTag = ({ name, value }: TagFilter): string =>
  value === undefined ? name : `${name}:${value}`;

/** Reads `name:value` or `name`; null if the text is neither. */
export function parseTag(text: string): TagFilter | null {
  const [, name, value] = TAG.exec(text) ?? [];
  if (name === undefined) return null;
  return value === undefined ? { name } : { name, value };
}

/** Time ranges that end now, in hours, by their name in the URL. */
export const WITHIN_HOURS = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 } as const;
export type Within = keyof typeof WITHIN_HOURS;
export const WITHIN = Object.keys(WITHIN_HOURS) as Within[];

/** What recipients did. A click is also an open. */
export const ENGAGEMENT_NAMES = ["opened", "clicked"] as const satisfies Engagement[];

/** The filters of the console's list of emails: the parameters of its URL, of its calls and of its export. */
export const EMAIL_FILTER_NAMES = [
  "search",
  "status",
  "key",
  "domain",
  "within",
  "since",
  "until",
  "recipient",
  "tag",
  "engagement",
  "subject",
] as const;
export type EmailFilterName = (typeof EMAIL_FILTER_NAMES)[number];
