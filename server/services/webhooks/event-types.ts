import { EVENT_TYPES, type EventType } from "#db/schema/events";

/** Events that whoever changes the thing announces, with a payload of their own. */
export const ANNOUNCED_EVENTS = [
  "domain.created",
  "domain.updated",
  "domain.deleted",
  "suppression.added",
  "suppression.removed",
  "webhook.disabled",
] as const;
export type AnnouncedEvent = (typeof ANNOUNCED_EVENTS)[number];

/** Events that Posthorn sends. */
export type SentEvent = EventType | AnnouncedEvent;

/** Names of the dialect for what Posthorn does not do: an endpoint may ask for them, and they never come. */
const NEVER_FIRED = [
  "email.received",
  "contact.created",
  "contact.updated",
  "contact.deleted",
  "contact.topics.updated",
  "topic.created",
  "topic.updated",
  "topic.deleted",
  "inbox.created",
  "inbox.updated",
  "inbox.deleted",
  "inbox.thread.created",
  "inbox.thread.folder.updated",
  "inbox.thread.assigned",
  "inbox.thread.unassigned",
  "inbox.thread.labels.updated",
  "inbox.email.received",
  "inbox.email.sent",
  "inbox.draft.created",
  "inbox.draft.updated",
  "inbox.draft.sent",
  "inbox.draft.deleted",
] as const;

/**
 * Every name that an endpoint may ask for. It gets exactly what it names, so `email.queued`, `email.canceled` and
 * `email.unknown`, which other services do not have, reach only who knows them.
 */
export const WEBHOOK_EVENTS = [...EVENT_TYPES, ...ANNOUNCED_EVENTS, ...NEVER_FIRED] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
