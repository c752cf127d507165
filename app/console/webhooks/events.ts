import type { SentEvent } from "#server/services/webhooks/event-types";

type Words = { group: "Mail" | "Trouble" | "Readers" | "The team's things"; says: string };

/** What each event tells, in words, in the order in which people choose. */
export const EVENT_WORDS: Record<SentEvent, Words> = {
  "email.queued": { group: "Mail", says: "a mail was accepted" },
  "email.scheduled": { group: "Mail", says: "a mail was scheduled" },
  "email.sent": { group: "Mail", says: "a mail was handed over to a mail server" },
  "email.delivered": { group: "Mail", says: "a mail was delivered" },
  "email.canceled": { group: "Mail", says: "a mail was canceled" },
  "email.delivery_delayed": { group: "Trouble", says: "a mail was refused for now, and is tried again" },
  "email.bounced": { group: "Trouble", says: "a mail bounced" },
  "email.complained": { group: "Trouble", says: "a mail was called spam" },
  "email.failed": { group: "Trouble", says: "a mail was given up" },
  "email.suppressed": { group: "Trouble", says: "a mail was not sent, since its address is suppressed" },
  "email.unknown": { group: "Trouble", says: "nobody can tell whether a mail arrived" },
  "email.opened": { group: "Readers", says: "a mail was opened" },
  "email.clicked": { group: "Readers", says: "a link in a mail was followed" },
  "domain.created": { group: "The team's things", says: "a domain was added" },
  "domain.updated": { group: "The team's things", says: "a domain changed its state" },
  "domain.deleted": { group: "The team's things", says: "a domain was removed" },
  "suppression.added": { group: "The team's things", says: "an address was suppressed" },
  "suppression.removed": { group: "The team's things", says: "an address is written to again" },
  "webhook.disabled": { group: "The team's things", says: "another webhook was disabled" },
};

/** Every event, in the order of the table. */
export const EVENT_NAMES = Object.keys(EVENT_WORDS) as SentEvent[];

/** The groups of the table with their events. */
export const EVENT_GROUPS = [...new Set(EVENT_NAMES.map((name) => EVENT_WORDS[name].group))].map((group) => ({
  group,
  events: EVENT_NAMES.filter((name) => EVENT_WORDS[name].group === group),
}));

export const isSentEvent = (name: string): name is SentEvent => Object.hasOwn(EVENT_WORDS, name);

/** What an event tells; nothing for a name that never comes. */
export const sayEvent = (name: string): string => (isSentEvent(name) ? EVENT_WORDS[name].says : "");

/** How many events, and which on hover. */
export const sayEvents = (names: readonly string[]): string => {
  const [first] = names;
  return names.length === 1 && first ? first : `${names.length} events`;
};
