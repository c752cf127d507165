/**
 * The arithmetic of the limiter, the same in all stores: Upstash's sliding window of one clock minute. The
 * count against a limit is the current minute, plus the previous minute weighted by the share that the
 * sliding minute still covers, rounded down. Rejected requests are not counted.
 *
 * Guarantee: if a request is rejected with `retryAfterSeconds` = n, a retry n seconds later is allowed,
 * provided that the bucket has counted no other request since, and an earlier retry at a whole second is not.
 * Four facts ensure it.
 * 1. Rejected requests are not counted, so the count of a minute never exceeds the limit.
 * 2. The limit is part of the counter's name. A lower limit starts a new counter; otherwise the old minute's
 *    larger count would cause rejections after the promised time.
 * 3. At least one millisecond into the next minute, a full minute weighs at most
 *    floor(limit * 59999 / 60000), which is below the limit. So the wait is at most 60 seconds.
 * 4. Only a rejection in the first millisecond of a minute would be retried 60 seconds later in a first
 *    millisecond, where the previous minute still has its full weight. So the first millisecond of a minute
 *    counts as the second one.
 */
export const WINDOW_MS = 60_000;

/**
 * The time at which a request at `nowMs` is counted: the same minute, but never its first millisecond (fact 4
 * above).
 */
export function judgedAtMs(nowMs: number): number {
  return nowMs % WINDOW_MS === 0 ? nowMs + 1 : nowMs;
}

/**
 * The weighted count of the previous minute. The expression matches Upstash's script, so both round in the
 * same way.
 */
export function weighPrevious(previousCount: number, atMs: number): number {
  const shareOfCurrent = (atMs % WINDOW_MS) / WINDOW_MS;
  return Math.floor((1 - shareOfCurrent) * previousCount);
}

/** The requests that were counted in a clock minute and in the one before. */
export type MinuteCounts = { previous: number; current: number };

/**
 * Whole seconds, 1 to 60, after which a request that was rejected at `nowMs` is allowed: the first second at
 * which the weighted count is below the limit, if nothing else is counted until then.
 */
export function secondsUntilItPasses(
  { previous, current }: MinuteCounts,
  limit: number,
  nowMs: number,
): number {
  const minuteOf = (ms: number) => Math.floor(ms / WINDOW_MS);
  for (let seconds = 1; seconds < 60; seconds++) {
    const atMs = judgedAtMs(nowMs + seconds * 1_000);
    const isSameMinute = minuteOf(atMs) === minuteOf(nowMs);
    const count = isSameMinute ? weighPrevious(previous, atMs) + current : weighPrevious(current, atMs);
    if (count < limit) return seconds;
  }
  return 60;
}
