import type { EventView, RecipientView } from "#server/trpc/email-views";
import type { Tone } from "./statuses";

/** Why something waits, by the rule that set its time. */
const RULES: Record<NonNullable<RecipientView["rule"]>, string> = {
  retry_schedule: "by the retry schedule, where each wait is longer than the last",
  greylisted: "soon, since the server makes unknown senders wait a little",
  transport_fault: "every quarter of an hour, until the way out is mended",
  lease_expired: "because the worker that had it vanished before it handed anything over",
  unknown_retry:
    "because nobody can tell whether the last attempt arrived, and this team prefers twice to never",
  no_transport: "there is no way out yet; it goes as soon as a relay or SMTP_URL is set",
  released: "because a worker that was stopping gave it back",
  relay_paused: "since no relay for it works at present; each is tried again once a minute",
  destination_pace:
    "in its turn, as fast as the mail server that is to take it does, or the operator lets it go there",
  daily_cap: "the next day (UTC), since the sender's domain has had all that a day allows it",
  warm_up: "the next day (UTC), since the domain is warmed up and this day's number is used up",
  team_daily_cap: "the next day (UTC), since the team has had all that the operator allows it in a day",
};

/** The sentence of a rule; its bare name where it is one we do not know. */
export const sayRule = (rule: string): string =>
  Object.hasOwn(RULES, rule) ? RULES[rule as keyof typeof RULES] : rule;

/** What happened, for each type of event. */
export const EVENTS: Record<EventView["type"], { label: string; tone: Tone }> = {
  "email.queued": { label: "Accepted", tone: "info" },
  "email.sent": { label: "Handed over", tone: "good" },
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
  "email.clicked": { label: "Link followed", tone: "info" },
};
