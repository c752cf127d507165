/** Seconds to wait after the nth failed attempt of a round; about 28 hours in total. */
export const WEBHOOK_RETRY_AFTER_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;

/** Attempts for one event in a round. A replay starts a new round. */
export const webhookAttemptsMax = WEBHOOK_RETRY_AFTER_SECONDS.length + 1;

const hourSeconds = 3_600;

/**
 * How long an endpoint must have failed before its recovery ends the wait after the nth failed attempt, in seconds. For a wait
 * of hours it is a tenth of it, which an outage that caused all n attempts always exceeds. An event that the endpoint
 * rejects while others succeed would otherwise use all its attempts within seconds.
 */
export const RECOVERY_AFTER_SECONDS = WEBHOOK_RETRY_AFTER_SECONDS.map((seconds) =>
  seconds > hourSeconds ? seconds / 10 : 0,
);
