import { setTimeout as wait } from "node:timers/promises";

/**
 * Runs `read`, or joins the call to a read of the same key that starts after the call: never to one that runs
 * already, so a result is never older than its call. Of each key, one read runs at a time and one is next. So
 * a hundred open pages that read again at the same change cost one or two reads. All calls of a read receive
 * the same object, which they must not change, or its error; neither is kept for later calls.
 *
 * The key must contain everything that the result depends on, and the caller's permission is checked before.
 */
export type JoinReads = <Result>(key: string, read: () => Promise<Result>) => Promise<Result>;

/**
 * Reads of one key start at this interval in ms at least: pages do not call in the same millisecond, and a
 * read may be shorter than the time between two of their calls.
 */
const readEveryMs = 200;

type Running = {
  /** Resolves when the next read of the key may start. */
  over: Promise<unknown>;
  next: Promise<unknown> | null;
};

/** The joined reads of this process. Keys are stored only until the read and its interval are over. */
export function createJoinedReads(everyMs = readEveryMs): JoinReads {
  const running = new Map<string, Running>();

  function start<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
    const result = read();
    const over = Promise.all([result.catch(() => {}), wait(everyMs)]);
    const entry: Running = { over, next: null };
    running.set(key, entry);
    void over.then(() => {
      if (!entry.next) running.delete(key);
    });
    return result;
  }

  return <Result>(key: string, read: () => Promise<Result>) => {
    const current = running.get(key);
    if (!current) return start(key, read);
    // Calls with the same key have the same type of result.
    current.next ??= current.over.then(() => start(key, read));
    return current.next as Promise<Result>;
  };
}
