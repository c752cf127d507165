/** Seconds to wait after the nth failed attempt of a round; about 28 hours in total. */
export const WEBHOOK_RETRY_AFTER_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;

/** Attempts for one event in a round. A replay starts a new round. */
export const webhookAttemptsMax = WEBHOOK_RETRY_AFTER_SECONDS.length + 1;
