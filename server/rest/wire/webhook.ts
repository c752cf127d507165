import type { SigningSecrets, Webhook } from "#server/services/webhooks/endpoints";
import type { WebhookAttempt, WebhookDelivery } from "#server/services/webhooks/events";

/** One endpoint as lists show it. */
export function webhookSummaryJson(webhook: Webhook) {
  const { id, url, events, status, disabledReason, failingSince, createdAt } = webhook;
  return {
    id,
    endpoint: url,
    events,
    status,
    disabled_reason: disabledReason,
    failing_since: failingSince?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  };
}

/** One endpoint; its secrets stand in it only for who may see them. */
export function webhookJson(webhook: Webhook, secrets: SigningSecrets | null) {
  return {
    object: "webhook",
    ...webhookSummaryJson(webhook),
    ...(secrets && {
      signing_secret: secrets.current,
      previous_signing_secret: secrets.previous?.secret ?? null,
      previous_signing_secret_until: secrets.previous?.until.toISOString() ?? null,
    }),
  };
}

/** One event of an endpoint as lists show it. */
export function webhookEventSummaryJson({ id, type, createdAt, status, attempts, dueAt }: WebhookDelivery) {
  return {
    id,
    type,
    created_at: createdAt.toISOString(),
    status,
    attempts,
    next_attempt_at: status === "pending" ? dueAt.toISOString() : null,
  };
}

/** One event of an endpoint with the body that it carries. */
export function webhookEventJson(event: WebhookDelivery & { body: Record<string, unknown> }) {
  return {
    object: "webhook_event",
    ...webhookEventSummaryJson(event),
    email_id: event.emailId,
    payload: event.body,
  };
}

/** One call: what was sent beside the payload, what came back, and when the next one was planned after it. */
export function webhookAttemptJson(attempt: WebhookAttempt) {
  return {
    id: attempt.id,
    number: attempt.number,
    http_status_code: attempt.statusCode,
    response: attempt.response,
    fault: attempt.fault,
    duration_ms: attempt.durationMs,
    sent_at: attempt.sentAt.toISOString(),
    next_attempt_at: attempt.nextAttemptAt?.toISOString() ?? null,
    request: { url: attempt.url, headers: attempt.headers },
  };
}
