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

/** What the name of an event does not say. The titles of the API reference repeat these names. */
const DETAILS: Partial<Record<SentEvent, string>> = {
  "email.queued": "Accepted and queued",
  "email.scheduled": "Accepted for a later time",
  "email.sent": "Passed to a relay or MX host",
  "email.delivered": "The recipient's server accepted it",
  "email.canceled": "Canceled before it was sent",
  "email.delivery_delayed": "Temporarily rejected; another attempt follows",
  "email.bounced": "The recipient's server rejected it permanently",
  "email.complained": "The recipient marked it as spam",
  "email.failed": "Could not be sent",
  "email.suppressed": "Not sent: the recipient is on the suppression list",
  "email.unknown": "The connection dropped before the server responded",
  "email.opened": "The recipient opened it",
  "email.clicked": "The recipient clicked a link in it",
};

/** The description of an event. Empty for an event that Backstamp never sends. */
export const describeEvent = (name: string): string =>
  isSentEvent(name) ? (DETAILS[name] ?? EVENT_DESCRIPTIONS[name]) : "";

/** A short form for the list: the only event, or the number of events. */
export const formatEvents = (names: readonly string[]): string => {
  const [first] = names;
  return names.length === 1 && first ? first : `${names.length} events`;
};
