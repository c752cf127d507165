import type { EmailRow, RecipientView } from "#server/trpc/email-views";

export type Status = EmailRow["status"] | RecipientView["status"];
export type Tone = "good" | "bad" | "warn" | "info" | "mute";

type Look = {
  label: string;
  tone: Tone;
  /** What it means, in a sentence. */
  means: string;
  /** Milliseconds after which a page that shows it asks again; null where nothing moves by itself. */
  askAgainMs: number | null;
};

/** Every status, once: what people read, its colour, and whether it is still on its way. */
export const STATUSES: Record<Status, Look> = {
  queued: { label: "Queued", tone: "info", means: "Accepted, and waiting for its turn.", askAgainMs: 2_000 },
  sending: {
    label: "Sending",
    tone: "info",
    means: "A worker is talking to the mail server.",
    askAgainMs: 1_000,
  },
  deferred: {
    label: "Deferred",
    tone: "warn",
    means: "Refused for now; it is tried again by itself.",
    askAgainMs: 5_000,
  },
  scheduled: { label: "Scheduled", tone: "mute", means: "Waits for its time.", askAgainMs: 15_000 },
  sent: { label: "Sent", tone: "good", means: "The mail server took it.", askAgainMs: null },
  delivered: { label: "Delivered", tone: "good", means: "It reached its end.", askAgainMs: null },
  bounced: { label: "Bounced", tone: "bad", means: "Refused for good by the other side.", askAgainMs: null },
  complained: { label: "Complained", tone: "bad", means: "The recipient called it spam.", askAgainMs: null },
  failed: { label: "Failed", tone: "bad", means: "We gave up, or refused to send it.", askAgainMs: null },
  unknown: {
    label: "Unknown",
    tone: "warn",
    means: "Nobody can tell whether the other side took it.",
    askAgainMs: 15_000,
  },
  suppressed: {
    label: "Suppressed",
    tone: "mute",
    means: "This recipient is not written to.",
    askAgainMs: null,
  },
  canceled: { label: "Canceled", tone: "mute", means: "Taken back before it was sent.", askAgainMs: null },
};

/** Those a mail can have, in the order in which a reader looks for them. */
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

/** What is older than this and still not at its end waits for something, and is asked after in peace. */
const restlessMs = 120_000;
const patientMs = 10_000;

/**
 * When to ask again about things of these statuses, begun at those times (ISO 8601): as soon as the most restless of
 * them wants; null when all rest.
 */
export function askAgainAfterMs(things: readonly { status: Status; since: string }[]): number | null {
  const waits = things.flatMap(({ status, since }) => {
    const wait = STATUSES[status].askAgainMs;
    if (wait === null) return [];
    return Date.now() - Date.parse(since) > restlessMs ? Math.max(wait, patientMs) : wait;
  });
  return waits.length > 0 ? Math.min(...waits) : null;
}
