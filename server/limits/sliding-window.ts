/**
 * The arithmetic of the limiter, equal in all stores: Upstash's sliding window of one clock minute. What counts against a
 * limit is the running minute, plus the minute before it weighted by the share which a sliding minute still covers, rounded
 * down. A refused call is not counted.
 *
 * The promise that hangs on it: a call refused with `retryAfterSeconds` = n passes n seconds later, if its bucket has spent
 * nothing of the new minute until then. It holds because of four facts.
 * 1. Refused calls are not counted, so the count of a minute never exceeds the limit.
 * 2. The limit is part of the counter's name. An operator who lowers it starts a new counter; else the old minute's larger
 *    count would go on refusing past the promised second.
 * 3. The call comes again at least one millisecond into a later minute. There a full minute weighs at most
 *    floor(limit * 59999 / 60000), which is below the limit.
 * 4. Only a refusal in the very first millisecond of a minute would come again 60 seconds later in a first millisecond, where
 *    the minute before still has its full weight. So the first millisecond of a minute is judged as the second one is.
 */
export const WINDOW_MS = 60_000;

/** The moment by which a call at `nowMs` is judged: the same minute, and never its first millisecond (fact 4 above). */
export function judgedAtMs(nowMs: number): number {
  return nowMs % WINDOW_MS === 0 ? nowMs + 1 : nowMs;
}

/** The clock minute that holds the moment, counted from the epoch. */
export function windowOf(atMs: number): number {
  return Math.floor(atMs / WINDOW_MS);
}

/** What is left of the previous minute's count. Written as Upstash's script has it, so that both round alike. */
export function weighPrevious(previousCount: number, atMs: number): number {
  const shareOfCurrent = (atMs % WINDOW_MS) / WINDOW_MS;
  return Math.floor((1 - shareOfCurrent) * previousCount);
}

/**
 * Whole seconds, 1 to 60, after which a refused call passes. `nowMs` is the moment at which the refusal is known: the caller
 * starts to wait no earlier.
 */
export function secondsUntilItPasses(resetAtMs: number, nowMs: number): number {
  return Math.max(1, Math.min(60, Math.floor((resetAtMs - nowMs) / 1000) + 1));
}
