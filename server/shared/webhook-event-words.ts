/** What each event reports: titles of the API reference, and texts of the console without details. */
export const EVENT_DESCRIPTIONS = {
  "email.queued": "Email accepted and queued",
  "email.scheduled": "Email scheduled",
  "email.sent": "Email sent to a relay or MX host",
  "email.delivered": "Email delivered",
  "email.canceled": "Email canceled",
  "email.delivery_delayed": "Email deferred; it will be retried",
  "email.bounced": "Email bounced",
  "email.complained": "Email marked as spam",
  "email.complaint_claimed": "Email possibly marked as spam",
  "email.auto_replied": "Automatic reply to an email received",
  "email.failed": "Email failed",
  "email.suppressed": "Recipient suppressed; email not sent",
  "email.unknown": "Email has an unknown outcome",
  "email.opened": "Email opened",
  "email.clicked": "Link in an email clicked",
  "domain.created": "Domain added",
  "domain.updated": "Domain status changed",
  "domain.deleted": "Domain removed",
  "suppression.added": "Address added to the suppression list",
  "suppression.removed": "Address removed from the suppression list",
  "webhook.disabled": "Another webhook disabled",
  "alert.opened": "Alert opened",
  "alert.resolved": "Alert resolved",
} as const;

/** Warnings about events to which an endpoint subscribes and that Backstamp never sends. */
export function warnOfEvents(events: readonly string[]): string[] {
  const never = events.filter((event) => !Object.hasOwn(EVENT_DESCRIPTIONS, event));
  if (never.length === 0) return [];
  const result = never.length === events.length ? " This endpoint receives nothing." : "";
  return [
    `Backstamp does not have the features of these events, so they never occur: ${never.join(", ")}.${result}`,
  ];
}
