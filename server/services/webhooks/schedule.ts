/** Seconds to wait after the nth failed attempt of a round; about 28 hours in total. */
export const WEBHOOK_RETRY_AFTER_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;

/** Attempts for one event in a round. A replay starts a new round. */
export const webhookAttemptsMax = WEBHOOK_RETRY_AFTER_SECONDS.length + 1;

/**
 * An endpoint must have failed for a tenth of the wait after the nth failed attempt, in seconds, before its
 * recovery ends that wait. An outage that caused all n attempts always exceeds it. An event that the endpoint
 * rejects while others succeed would otherwise use all its attempts within seconds.
 */
export const RECOVERY_AFTER_SECONDS = WEBHOOK_RETRY_AFTER_SECONDS.map((seconds) => seconds / 10);
/** A shorter run of failures is not an outage, but an endpoint that rejects some events. */
export const recoverySecondsMin = 30;
