import { setBounded } from "../bounded-map";
import { judgedAtMs, secondsUntilItPasses, WINDOW_MS, weighPrevious } from "./sliding-window";

/** The result for one counter. */
export type Count = {
  allowed: boolean;
  /** Requests that are still allowed after this one. */
  remaining: number;
  /** The end of the clock minute of this request, in milliseconds since the epoch. */
  resetAtMs: number;
  /** 0 if allowed, else 1 to 60. A retry after this many seconds is allowed (see `sliding-window.ts`). */
  retryAfterSeconds: number;
};

export type InProcessStore = ReturnType<typeof createInProcessStore>;

const countersPerMinuteMax = 50_000;

/**
 * The sliding window in this process's memory: the same arithmetic as the shared stores, for one process.
 *
 * Memory is bounded. At most three minutes are stored: the current one and its neighbors, which keeps the
 * counts if the clock steps back over a boundary. Each minute has at most `countersMax` counters. Beyond
 * that, the oldest counter of the minute is deleted, which can only allow more requests.
 */
export function createInProcessStore(clock: () => number, countersMax: number = countersPerMinuteMax) {
  const windows = new Map<number, Map<string, number>>();

  function count(cost: 0 | 1, counter: string, limit: number): Count {
    const nowMs = clock();
    const atMs = judgedAtMs(nowMs);
    const window = Math.floor(atMs / WINDOW_MS);
    const name = `${limit}:${counter}`;
    let counts = windows.get(window);
    if (!counts) {
      for (const minute of windows.keys()) if (Math.abs(minute - window) > 1) windows.delete(minute);
      counts = new Map();
      windows.set(window, counts);
    }
    const current = counts.get(name) ?? 0;
    const previous = windows.get(window - 1)?.get(name) ?? 0;
    const left = limit - weighPrevious(previous, atMs) - current;
    const resetAtMs = (window + 1) * WINDOW_MS;
    if (left <= 0) {
      const retryAfterSeconds = secondsUntilItPasses({ previous, current }, limit, nowMs);
      return { allowed: false, remaining: 0, resetAtMs, retryAfterSeconds };
    }
    if (cost > 0 && current > 0) counts.set(name, current + cost);
    else if (cost > 0) setBounded(counts, name, cost, countersMax);
    return { allowed: true, remaining: left - cost, resetAtMs, retryAfterSeconds: 0 };
  }

  return { take: count.bind(null, 1), peek: count.bind(null, 0) };
}
