import type { SentEvent } from "#server/services/webhooks/events/types";
import { EVENT_DESCRIPTIONS } from "#server/shared/webhook-event-words";

/** The group of each event, and what its name does not say: the titles of the API reference repeat it. */
const EVENTS: Record<SentEvent, [group: string, detail?: string]> = {
  "email.queued": ["Email", "Accepted and queued"],
  "email.scheduled": ["Email", "Accepted for a later time"],
  "email.sent": ["Email", "Passed to a relay or MX host"],
  "email.delivered": ["Email", "The recipient's server accepted it"],
  "email.canceled": ["Email", "Canceled before it was sent"],
  "email.delivery_delayed": ["Problems", "Temporarily rejected; another attempt follows"],
  "email.bounced": ["Problems", "The recipient's server rejected it permanently"],
  "email.complained": ["Problems", "The recipient marked it as spam"],
  "email.complaint_claimed": ["Problems", "An unproven spam report names the recipient"],
  "email.failed": ["Problems", "Could not be sent"],
  "email.suppressed": ["Problems", "Not sent: the recipient is on the suppression list"],
  "email.unknown": ["Problems", "The connection dropped before the server responded"],
  "email.auto_replied": ["Engagement", "The recipient's address sent an automatic reply"],
  "email.opened": ["Engagement", "The recipient opened it"],
  "email.clicked": ["Engagement", "The recipient clicked a link in it"],
  "domain.created": ["Team"],
  "domain.updated": ["Team"],
  "domain.deleted": ["Team"],
  "suppression.added": ["Team"],
  "suppression.removed": ["Team"],
  "webhook.disabled": ["Team"],
  "alert.opened": ["Team"],
  "alert.resolved": ["Team"],
};

/** Every event, in display order. */
export const EVENT_NAMES = Object.keys(EVENTS) as SentEvent[];

/** The groups in display order, with their events. */
export const EVENT_GROUPS = [...new Set(Object.values(EVENTS).map(([group]) => group))].map((group) => ({
  group,
  events: EVENT_NAMES.filter((name) => EVENTS[name][0] === group),
}));

export const isSentEvent = (name: string): name is SentEvent => Object.hasOwn(EVENTS, name);

/** The description of an event. Empty for an event that Backstamp never sends. */
export const describeEvent = (name: string): string =>
  isSentEvent(name) ? (EVENTS[name][1] ?? EVENT_DESCRIPTIONS[name]) : "";

/** A short form for the list: the only event, or the number of events. */
export const formatEvents = (names: readonly string[]): string => {
  const [first] = names;
  return names.length === 1 && first ? first : `${names.length} events`;
};
