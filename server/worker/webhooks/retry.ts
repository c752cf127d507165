import { WEBHOOK_RETRY_AFTER_SECONDS } from "#server/services/webhooks/schedule";

/** Share by which a wait may be longer or shorter, so that what failed together does not come back together. */
const jitter = 0.2;

/** Milliseconds until the attempt after the nth, or null past the end. `random` is in [0, 1). */
export function webhookRetryAfterMs(attempt: number, random: number): number | null {
  const seconds = WEBHOOK_RETRY_AFTER_SECONDS[attempt - 1];
  return seconds === undefined ? null : Math.round(seconds * 1_000 * (1 - jitter + 2 * jitter * random));
}
