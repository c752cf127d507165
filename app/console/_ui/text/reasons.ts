import type { EventView, RecipientView } from "#server/trpc/emails/views";
import type { Tone } from "./statuses";

/** Why a delivery is not attempted now, by the rule that scheduled its next attempt. */
const RULES: Record<NonNullable<RecipientView["rule"]>, string> = {
  retry_schedule: "The retry schedule applies: each wait is longer than the one before.",
  greylisted: "The destination uses greylisting, which briefly delays unknown senders.",
  transport_fault:
    "The outgoing connection is failing. The delivery is retried every 15 minutes until it works.",
  lease_expired: "The worker that claimed this delivery stopped before it sent anything.",
  unknown_retry:
    "The outcome of the last attempt is unknown. This team retries in that case and accepts a duplicate.",
  no_transport: "Outgoing email is not configured. Sending starts as soon as a relay or SMTP_URL is set.",
  released: "A worker released this delivery when it shut down.",
  relay_paused: "All relays for this email are paused. Each one is tried again once a minute.",
  destination_pace: "Throttled: the destination or the operator limits the sending rate.",
  daily_cap: "The sender's domain has reached its daily cap. Sending resumes the next day (UTC).",
  warm_up:
    "The sender's domain is in warm-up and has reached its limit for today. Sending resumes the next day (UTC).",
  team_daily_cap:
    "The team has reached its daily cap, set by the operator. Sending resumes the next day (UTC).",
};

/** Describes a rule in one or two sentences. An unknown rule is shown by its name. */
export const describeRule = (rule: string): string =>
  Object.hasOwn(RULES, rule) ? RULES[rule as keyof typeof RULES] : `Reason: ${rule}.`;

/** Label and color of each event type. */
export const EVENTS: Record<EventView["type"], { label: string; tone: Tone }> = {
  "email.queued": { label: "Accepted", tone: "info" },
  "email.sent": { label: "Sent", tone: "good" },
  "email.delivered": { label: "Delivered", tone: "good" },
  "email.delivery_delayed": { label: "Deferred", tone: "warn" },
  "email.bounced": { label: "Bounced", tone: "bad" },
  "email.complained": { label: "Complained", tone: "bad" },
  "email.failed": { label: "Failed", tone: "bad" },
  "email.suppressed": { label: "Suppressed", tone: "mute" },
  "email.scheduled": { label: "Scheduled", tone: "mute" },
  "email.canceled": { label: "Canceled", tone: "mute" },
  "email.unknown": { label: "Unknown", tone: "warn" },
  "email.opened": { label: "Opened", tone: "info" },
  "email.clicked": { label: "Clicked", tone: "info" },
};
