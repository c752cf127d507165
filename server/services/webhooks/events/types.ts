import { EVENT_TYPES, type EventType } from "#db/schema/events";

/** Events with their own payload, queued by the service that makes the change. */
export const ANNOUNCED_EVENTS = [
  "domain.created",
  "domain.updated",
  "domain.deleted",
  "suppression.added",
  "suppression.removed",
  "webhook.disabled",
  "alert.opened",
  "alert.resolved",
] as const;
export type AnnouncedEvent = (typeof ANNOUNCED_EVENTS)[number];

/** Events that Backstamp sends. */
export type SentEvent = EventType | AnnouncedEvent;

/**
 * Event names of the Resend API for features that Backstamp does not have: an endpoint may subscribe to them,
 * but they never occur.
 */
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
 * All event names that an endpoint may subscribe to. It receives exactly these, so events that other services
 * do not have (`email.queued`, `email.canceled`, `email.unknown`, `alert.opened`, `alert.resolved`) reach
 * only receivers that subscribe to them.
 */
export const WEBHOOK_EVENTS = [...EVENT_TYPES, ...ANNOUNCED_EVENTS, ...NEVER_FIRED] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
