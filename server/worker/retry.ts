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

/** Greylisting lasts minutes: this many attempts come soon, and what is still refused then follows the table above. */
const greylistedAttemptsMax = 4;
const greylistMs = { least: 60_000, usual: 5 * 60_000, most: 15 * 60_000 };

/**
 * Milliseconds until the attempt after the nth was greylisted, or null where the table decides. `statedMs` is what the
 * server asked for; it is never undercut, and heeded up to a quarter of an hour.
 */
export function greylistRetryMs(attempt: number, statedMs: number | null, random: number): number | null {
  if (attempt > greylistedAttemptsMax) return null;
  const { least, usual, most } = greylistMs;
  return Math.round(Math.min(Math.max(statedMs ?? usual, least), most) * (1 + jitter * random));
}

/** Milliseconds until a way out that refuses us is asked again for this mail. */
export function transportFaultRetryMs(random: number): number {
  return Math.round(15 * 60_000 * (1 - jitter + 2 * jitter * random));
}

/** Milliseconds until mail comes again whose relays have all failed: when they have been tried once more, and no sooner. */
export function relayRetryMs(random: number): number {
  return Math.round(60_000 * (1 + jitter * random));
}
