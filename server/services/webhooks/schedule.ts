/** Seconds to wait after the nth failed attempt of a round, about 28 hours in all. */
export const WEBHOOK_RETRY_AFTER_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;

/** Calls that are made for one event in a round; a replay begins a new one. */
export const webhookAttemptsMax = WEBHOOK_RETRY_AFTER_SECONDS.length + 1;
