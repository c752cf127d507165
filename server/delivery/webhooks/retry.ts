import { WEBHOOK_RETRY_AFTER_SECONDS } from "#server/services/webhooks/schedule";

/** Relative jitter of a wait. It spreads the retries of events that failed at the same time. */
const jitter = 0.2;

/** Milliseconds to wait after the nth attempt, or null after the last one. `random` is in [0, 1). */
export function webhookRetryAfterMs(attempt: number, random: number): number | null {
  const seconds = WEBHOOK_RETRY_AFTER_SECONDS[attempt - 1];
  return seconds === undefined ? null : Math.round(seconds * 1_000 * (1 - jitter + 2 * jitter * random));
}
