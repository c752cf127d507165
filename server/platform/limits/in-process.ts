import { judgedAtMs, WINDOW_MS, weighPrevious, windowOf } from "./sliding-window";

/** A store's result for one counter. `remaining` is the number after this call; `resetAtMs` is the end of its minute. */
export type Count = { allowed: boolean; remaining: number; resetAtMs: number };

export type InProcessStore = {
  take(counter: string, limit: number): Count;
  peek(counter: string, limit: number): Count;
};

const countersPerMinuteMax = 50_000;

/**
 * The sliding window in this process's memory: the same arithmetic as the shared stores, for one process.
 *
 * Memory is bounded. At most three minutes are stored: the current one and its neighbors, which keeps the counts if the clock
 * steps back over a boundary. Each minute has at most `countersMax` counters. Beyond that, the oldest counter of the minute is
 * deleted, which can only allow more requests.
 */
export function createInProcessStore(
  clock: () => number,
  countersMax: number = countersPerMinuteMax,
): InProcessStore {
  const windows = new Map<number, Map<string, number>>();

  function openWindow(window: number): Map<string, number> {
    const open = windows.get(window);
    if (open) return open;
    for (const held of windows.keys()) if (Math.abs(held - window) > 1) windows.delete(held);
    const counts = new Map<string, number>();
    windows.set(window, counts);
    return counts;
  }

  function count(counter: string, limit: number, cost: 0 | 1): Count {
    const atMs = judgedAtMs(clock());
    const window = windowOf(atMs);
    const name = `${limit}:${counter}`;
    const counts = openWindow(window);
    const current = counts.get(name) ?? 0;
    const left = limit - weighPrevious(windows.get(window - 1)?.get(name) ?? 0, atMs) - current;
    const resetAtMs = (window + 1) * WINDOW_MS;
    if (left <= 0) return { allowed: false, remaining: 0, resetAtMs };
    if (cost > 0) {
      if (current === 0 && counts.size >= countersMax) deleteOldest(counts);
      counts.set(name, current + cost);
    }
    return { allowed: true, remaining: left - cost, resetAtMs };
  }

  return {
    take: (counter, limit) => count(counter, limit, 1),
    peek: (counter, limit) => count(counter, limit, 0),
  };
}

// A Map keeps its keys in the order of insertion.
function deleteOldest(counts: Map<string, number>): void {
  const oldest = counts.keys().next();
  if (!oldest.done) counts.delete(oldest.value);
}
