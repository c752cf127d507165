/**
 * Minutes to wait after the nth failed attempt, about four days in all: RFC 5321 section 4.5.4.1 asks for four to five.
 * The early short ones are for greylisting and for servers that were just away.
 */
export const RETRY_AFTER_MINUTES = [1, 5, 15, 30, 60, 120, 240, 480, 720, 1440, 1440, 1440] as const;

export const attemptsMax = RETRY_AFTER_MINUTES.length + 1;

/** Share by which a wait may be longer or shorter, so that what failed together does not come back together. */
const jitter = 0.2;

/** Milliseconds until the attempt after the nth, or null past the end. `random` is in [0, 1). */
export function retryAfterMs(attempt: number, random: number): number | null {
  const minutes = RETRY_AFTER_MINUTES[attempt - 1];
  return minutes === undefined ? null : Math.round(minutes * 60_000 * (1 - jitter + 2 * jitter * random));
}
