import { failingDaysMax, failuresMin } from "#server/services/webhooks/disable";
import { type EndpointState, waitingCountedMax } from "#server/services/webhooks/endpoint-state";
import type { Webhook } from "#server/services/webhooks/endpoints";
import type { WebhookAttempt, WebhookDelivery } from "#server/services/webhooks/events/events";
import { WEBHOOK_RETRY_AFTER_SECONDS } from "#server/services/webhooks/schedule";

const dayMs = 86_400_000;
/** Maximum length of a response body; longer ones are not stored either. */
const answerCharsMax = 16 * 1024;

/**
 * How an endpoint is called: with its earned concurrency, one call at a time, not before a set time, or not
 * at all.
 */
export type Lane = "open" | "single" | "paused" | "closed";

/** An endpoint with its state, without secrets. Times are ISO 8601. */
export function viewEndpoint(webhook: Webhook, state: EndpointState, now: Date) {
  const { status, failingSince, pausedUntil, previousUntil } = webhook;
  const isPaused = pausedUntil !== null && pausedUntil > now;
  const lane: Lane =
    status === "disabled" ? "closed" : isPaused ? "paused" : failingSince ? "single" : "open";
  return {
    id: webhook.id,
    url: webhook.url,
    events: webhook.events,
    status,
    disabledReason: webhook.disabledReason,
    failingSince: failingSince?.toISOString() ?? null,
    failures: webhook.failures,
    /** When the endpoint is disabled if no attempt succeeds until then. */
    disablesAt:
      status === "enabled" && failingSince
        ? new Date(failingSince.getTime() + failingDaysMax * dayMs).toISOString()
        : null,
    disablesAfterFailures: failuresMin,
    lane,
    pausedUntil: isPaused ? pausedUntil.toISOString() : null,
    /** Until when the previous secret also signs; null if only one secret is active. */
    previousUntil: state.isPreviousLive ? (previousUntil?.toISOString() ?? null) : null,
    waiting: state.waiting,
    isWaitingAtLeast: state.waiting === waitingCountedMax,
    inProgress: state.inProgress,
    lastResponse: state.lastResponse,
    createdAt: webhook.createdAt.toISOString(),
  };
}
export type EndpointView = ReturnType<typeof viewEndpoint>;

/** A row of an endpoint's event deliveries. */
export function viewWebhookDelivery(delivery: WebhookDelivery) {
  const { id, type, status, attempts, createdAt, dueAt } = delivery;
  return {
    id,
    type,
    status,
    /** Attempts of this round; a replay starts a new one. */
    attempts,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: status === "pending" ? dueAt.toISOString() : null,
  };
}
export type WebhookDeliveryRow = ReturnType<typeof viewWebhookDelivery>;

/** One event delivery in full: its payload, as sent or as it would be sent now, and all attempts. */
export function viewDeliveryDetail(
  delivery: WebhookDelivery & { body: Record<string, unknown> },
  attempts: { rows: WebhookAttempt[]; hasMore: boolean },
) {
  return {
    ...viewWebhookDelivery(delivery),
    emailId: delivery.emailId,
    body: delivery.payload ?? JSON.stringify(delivery.body),
    /** The payload is fixed at the first attempt; before that it is generated on read. */
    isBodyFixed: delivery.payload !== null,
    /** Seconds between the attempts of a round, starting with the first failure. */
    waitsSeconds: [...WEBHOOK_RETRY_AFTER_SECONDS],
    calls: attempts.rows.map(viewAttempt),
    hasMoreCalls: attempts.hasMore,
  };
}
export type WebhookDeliveryView = ReturnType<typeof viewDeliveryDetail>;
export type WebhookCallView = WebhookDeliveryView["calls"][number];

function viewAttempt(attempt: WebhookAttempt) {
  return {
    id: attempt.id,
    number: attempt.number,
    url: attempt.url,
    headers: attempt.headers,
    statusCode: attempt.statusCode,
    answer: attempt.response?.slice(0, answerCharsMax) ?? null,
    fault: attempt.fault,
    durationMs: attempt.durationMs,
    sentAt: attempt.sentAt.toISOString(),
    nextAttemptAt: attempt.nextAttemptAt?.toISOString() ?? null,
  };
}
