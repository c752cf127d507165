/**
 * Minutes to wait after the nth failed attempt, about four days in total: RFC 5321 section 4.5.4.1 recommends 4 to 5 days.
 * The short first waits are for greylisting and for servers that are unavailable for a moment.
 */
export const RETRY_AFTER_MINUTES = [1, 5, 15, 30, 60, 120, 240, 480, 720, 1440, 1440, 1440] as const;

export const attemptsMax = RETRY_AFTER_MINUTES.length + 1;

/** Relative jitter of a wait. It spreads the retries of deliveries that failed at the same time. */
const jitter = 0.2;

/** Milliseconds to wait after the nth attempt, or null after the last one. `random` is in [0, 1). */
export function retryAfterMs(attempt: number, random: number): number | null {
  const minutes = RETRY_AFTER_MINUTES[attempt - 1];
  return minutes === undefined ? null : Math.round(minutes * 60_000 * (1 - jitter + 2 * jitter * random));
}

/** Greylisting lasts minutes: the first attempts have short waits, later ones use the table above. */
const greylistedAttemptsMax = 4;
const greylistWaitMs = { min: 60_000, usual: 5 * 60_000, max: 15 * 60_000 };

/**
 * Milliseconds to wait after the nth attempt was greylisted, or null if the table applies. `statedMs` is the wait that the
 * server requested. The result is never shorter than it, but at most 15 minutes plus jitter.
 */
export function greylistRetryMs(attempt: number, statedMs: number | null, random: number): number | null {
  if (attempt > greylistedAttemptsMax) return null;
  const { min, usual, max } = greylistWaitMs;
  return Math.round(Math.min(Math.max(statedMs ?? usual, min), max) * (1 + jitter * random));
}

/** Milliseconds until the next attempt after the transport failed on our side (login or TLS). */
export function transportFaultRetryMs(random: number): number {
  return Math.round(15 * 60_000 * (1 - jitter + 2 * jitter * random));
}

/** Milliseconds until the next attempt after all relays failed: not before the paused relays were probed again. */
export function relayRetryMs(random: number): number {
  return Math.round(60_000 * (1 + jitter * random));
}
