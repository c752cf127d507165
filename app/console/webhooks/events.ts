import type { SentEvent } from "#server/services/webhooks/events/types";
import { EVENT_DESCRIPTIONS } from "#server/shared/webhook-event-words";

type Group = "Email" | "Problems" | "Engagement" | "Team";

const GROUPS: Record<SentEvent, Group> = {
  "email.queued": "Email",
  "email.scheduled": "Email",
  "email.sent": "Email",
  "email.delivered": "Email",
  "email.canceled": "Email",
  "email.delivery_delayed": "Problems",
  "email.bounced": "Problems",
  "email.complained": "Problems",
  "email.failed": "Problems",
  "email.suppressed": "Problems",
  "email.unknown": "Problems",
  "email.opened": "Engagement",
  "email.clicked": "Engagement",
  "domain.created": "Team",
  "domain.updated": "Team",
  "domain.deleted": "Team",
  "suppression.added": "Team",
  "suppression.removed": "Team",
  "webhook.disabled": "Team",
  "alert.opened": "Team",
  "alert.resolved": "Team",
};

/** Every event, in display order. */
export const EVENT_NAMES = Object.keys(GROUPS) as SentEvent[];

/** The groups in display order, with their events. */
export const EVENT_GROUPS = [...new Set(EVENT_NAMES.map((name) => GROUPS[name]))].map((group) => ({
  group,
  events: EVENT_NAMES.filter((name) => GROUPS[name] === group),
}));

export const isSentEvent = (name: string): name is SentEvent => Object.hasOwn(GROUPS, name);

/** The description of an event. Empty for an event that Backstamp never sends. */
export const describeEvent = (name: string): string => (isSentEvent(name) ? EVENT_DESCRIPTIONS[name] : "");

/** A short form for the list: the only event, or the number of events. */
export const formatEvents = (names: readonly string[]): string => {
  const [first] = names;
  return names.length === 1 && first ? first : `${names.length} events`;
};
