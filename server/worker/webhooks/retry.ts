/** Seconds to wait after the nth failed attempt of a round, about 28 hours in all. */
export const WEBHOOK_RETRY_AFTER_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;

export const webhookAttemptsMax = WEBHOOK_RETRY_AFTER_SECONDS.length + 1;

/** Share by which a wait may be longer or shorter, so that what failed together does not come back together. */
const jitter = 0.2;

/** Milliseconds until the attempt after the nth, or null past the end. `random` is in [0, 1). */
export function webhookRetryAfterMs(attempt: number, random: number): number | null {
  const seconds = WEBHOOK_RETRY_AFTER_SECONDS[attempt - 1];
  return seconds === undefined ? null : Math.round(seconds * 1_000 * (1 - jitter + 2 * jitter * random));
}
