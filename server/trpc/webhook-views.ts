import { failingDaysMax, failuresMin } from "#server/services/webhooks/disable";
import type { Webhook } from "#server/services/webhooks/endpoints";
import type { WebhookAttempt, WebhookDelivery } from "#server/services/webhooks/events";
import { WEBHOOK_RETRY_AFTER_SECONDS } from "#server/services/webhooks/schedule";
import { type Standing, waitingCountedMax } from "#server/services/webhooks/standing";

const dayMs = 86_400_000;
/** Of an answer; that many bytes of it are kept at most. */
const answerCharsMax = 16 * 1024;

/** How an endpoint's lane runs: as wide as it earns, one call at a time, not before a time, or not at all. */
export type Lane = "open" | "single" | "paused" | "closed";

/** An endpoint with how it fares, without its secrets. Times are ISO 8601. */
export function viewEndpoint(webhook: Webhook, standing: Standing, now: Date) {
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
    /** From when on we disable it, if nothing succeeds until then. */
    disablesAt:
      status === "enabled" && failingSince
        ? new Date(failingSince.getTime() + failingDaysMax * dayMs).toISOString()
        : null,
    disablesAfterFailures: failuresMin,
    lane,
    pausedUntil: isPaused ? pausedUntil.toISOString() : null,
    /** Until when the secret before the last rotation signs too; null where one signs alone. */
    previousUntil: standing.isPreviousLive ? (previousUntil?.toISOString() ?? null) : null,
    waiting: standing.waiting,
    isWaitingAtLeast: standing.waiting === waitingCountedMax,
    underWay: standing.underWay,
    lastAnswer: standing.lastAnswer,
    createdAt: webhook.createdAt.toISOString(),
  };
}
export type EndpointView = ReturnType<typeof viewEndpoint>;

/** One event of an endpoint as a line of its list. */
export function viewWebhookDelivery(delivery: WebhookDelivery) {
  const { id, type, status, attempts, createdAt, dueAt } = delivery;
  return {
    id,
    type,
    status,
    /** Of this round; a replay begins a new one. */
    attempts,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: status === "pending" ? dueAt.toISOString() : null,
  };
}
export type WebhookDeliveryRow = ReturnType<typeof viewWebhookDelivery>;

/** One event whole: the body as it was sent, or as it would be sent now, and every call that was made. */
export function viewWholeDelivery(
  delivery: WebhookDelivery & { body: Record<string, unknown> },
  attempts: { rows: WebhookAttempt[]; hasMore: boolean },
) {
  return {
    ...viewWebhookDelivery(delivery),
    emailId: delivery.emailId,
    body: delivery.payload ?? JSON.stringify(delivery.body),
    /** The body is fixed since the first call; before that it is made anew. */
    isBodyFixed: delivery.payload !== null,
    /** Seconds between the calls of a round, from the first failure on. */
    waitsSeconds: [...WEBHOOK_RETRY_AFTER_SECONDS],
    calls: attempts.rows.map(viewAttempt),
    hasMoreCalls: attempts.hasMore,
  };
}
export type WebhookDeliveryView = ReturnType<typeof viewWholeDelivery>;
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
