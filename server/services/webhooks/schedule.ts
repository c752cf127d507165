/*
 * What follows a failed attempt of an event:
 *
 * | rule                                                           | where                               |
 * |----------------------------------------------------------------|-------------------------------------|
 * | The event is retried by the table below, then it is `failed`.  | delivery/webhooks/attempt.ts        |
 * | Its endpoint has one attempt at a time until one succeeds.     | delivery/webhooks/queue.ts          |
 * | `Retry-After` (at most 12 h), or 30 s after a 429, 502 or 504, | delivery/webhooks/attempt.ts        |
 * | pauses all events of the endpoint.                             |                                     |
 * | A success after an outage makes the pending events due.        | delivery/webhooks/recovery.ts       |
 * | A 410 disables the endpoint, and so do five days with at least | services/webhooks/endpoint-state.ts |
 * | ten attempts that all failed.                                  |                                     |
 * | A disabled endpoint gets no new events, and pending ones wait. | delivery/webhooks/queue.ts          |
 *
 * Other events of the endpoint keep their own times.
 */

/**
 * Seconds to wait after the nth failed attempt of an event; about 28 hours in total. A replay starts again
 * with the first one.
 */
export const WEBHOOK_RETRY_AFTER_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;

/** Attempts for one event, and again for each replay of it. */
export const webhookAttemptsMax = WEBHOOK_RETRY_AFTER_SECONDS.length + 1;

/**
 * A recovery ends the wait after the nth failed attempt only if the endpoint failed for at least these
 * seconds, a tenth of that wait. An outage that caused all n attempts always lasted longer. Without this rule
 * an event that the endpoint rejects while others succeed would use all its attempts within seconds.
 */
export const RECOVERY_AFTER_SECONDS = WEBHOOK_RETRY_AFTER_SECONDS.map((seconds) => seconds / 10);
/** A shorter run of failures is not an outage, but an endpoint that rejects some events. */
export const recoverySecondsMin = 30;
