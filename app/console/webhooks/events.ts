import type { SentEvent } from "#server/services/webhooks/events/types";

type EventLabel = { group: "Email" | "Problems" | "Engagement" | "Team"; description: string };

/** The group and the description of each event, in display order. */
export const EVENT_LABELS: Record<SentEvent, EventLabel> = {
  "email.queued": { group: "Email", description: "Email accepted and queued" },
  "email.scheduled": { group: "Email", description: "Email scheduled" },
  "email.sent": { group: "Email", description: "Email sent to a relay or MX host" },
  "email.delivered": { group: "Email", description: "Email delivered" },
  "email.canceled": { group: "Email", description: "Email canceled" },
  "email.delivery_delayed": { group: "Problems", description: "Email deferred; it will be retried" },
  "email.bounced": { group: "Problems", description: "Email bounced" },
  "email.complained": { group: "Problems", description: "Email marked as spam" },
  "email.failed": { group: "Problems", description: "Email failed" },
  "email.suppressed": { group: "Problems", description: "Recipient suppressed; email not sent" },
  "email.unknown": { group: "Problems", description: "Email has an unknown outcome" },
  "email.opened": { group: "Engagement", description: "Email opened" },
  "email.clicked": { group: "Engagement", description: "Link in an email clicked" },
  "domain.created": { group: "Team", description: "Domain added" },
  "domain.updated": { group: "Team", description: "Domain status changed" },
  "domain.deleted": { group: "Team", description: "Domain removed" },
  "suppression.added": { group: "Team", description: "Address added to the suppression list" },
  "suppression.removed": { group: "Team", description: "Address removed from the suppression list" },
  "webhook.disabled": { group: "Team", description: "Another webhook disabled" },
  "alert.opened": { group: "Team", description: "Alert opened" },
  "alert.resolved": { group: "Team", description: "Alert resolved" },
};

/** Every event, in display order. */
export const EVENT_NAMES = Object.keys(EVENT_LABELS) as SentEvent[];

/** The groups in display order, with their events. */
export const EVENT_GROUPS = [...new Set(EVENT_NAMES.map((name) => EVENT_LABELS[name].group))].map(
  (group) => ({
    group,
    events: EVENT_NAMES.filter((name) => EVENT_LABELS[name].group === group),
  }),
);

export const isSentEvent = (name: string): name is SentEvent => Object.hasOwn(EVENT_LABELS, name);

/** The description of an event. Empty for an event that Backstamp never sends. */
export const describeEvent = (name: string): string =>
  isSentEvent(name) ? EVENT_LABELS[name].description : "";

/** A short form for the list: the only event, or the number of events. */
export const formatEvents = (names: readonly string[]): string => {
  const [first] = names;
  return names.length === 1 && first ? first : `${names.length} events`;
};
