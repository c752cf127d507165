import { DatabaseBusy } from "#db/gate";

/** Items of one caller. They are written by one call, and results are in their order. */
type Entry<Item, Result> = {
  items: readonly Item[];
  queuedMs: number;
  resolve(results: Result[]): void;
  reject(error: unknown): void;
};

/** When the next call of `write` starts, and with which items. */
export type Batching<Item> = {
  /** How many entries at the head of the queue one call takes, at least one. */
  countNext(entries: readonly { items: readonly Item[] }[]): number;
  /** Concurrent calls. */
  callsMax?: number;
  /**
   * While a call is running, and with a single call at a time also after it, the next one starts when this
   * many items wait, or after `gatherMsMax`: a statement costs as much as several rows.
   */
  itemsMin?: number;
  gatherMsMax?: number;
  /** Items that no call has taken by then are rejected with DatabaseBusy. They were not written. */
  waitMsMax?: number;
};

/** The longest run of entries with at most `itemsMax` items. */
export const upTo =
  (itemsMax: number) =>
  (entries: readonly { items: readonly unknown[] }[]): number => {
    let size = 0;
    let count = 0;
    for (const { items } of entries) {
      size += items.length;
      if (count > 0 && size > itemsMax) break;
      count++;
    }
    return count;
  };

/**
 * Combines concurrent items into calls of `write`. Items that arrive while idle are written immediately,
 * together with those of the same turn of the event loop; later ones form the next batch. Each caller gets
 * the results of its own items. A failed call rejects only the callers in that batch.
 */
export function createBatches<Item, Result>(
  write: (items: Item[]) => Promise<(item: Item) => Result>,
  { countNext, callsMax = 1, itemsMin = 1, gatherMsMax = 0, waitMsMax }: Batching<Item>,
): (items: readonly Item[]) => Promise<Result[]> {
  const queue: Entry<Item, Result>[] = [];
  let waiting = 0;
  let running = 0;
  let gathering: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  const dequeue = (count: number) => {
    const entries = queue.splice(0, count);
    for (const { items } of entries) waiting -= items.length;
    return entries;
  };

  const startNext = (isGathering: boolean) => {
    while (running < callsMax && queue.length > 0) {
      if (waiting < itemsMin && isGathering) {
        gathering ??= setTimeout(endGathering, gatherMsMax);
        break;
      }
      clearTimeout(gathering);
      gathering = undefined;
      running++;
      void writeBatch(dequeue(countNext(queue)));
      isGathering = true;
    }
    watchExpiry();
  };

  const endGathering = () => {
    gathering = undefined;
    startNext(false);
  };

  const writeBatch = async (entries: Entry<Item, Result>[]) => {
    try {
      const resultOf = await write(entries.flatMap(({ items }) => items));
      for (const { items, resolve } of entries) resolve(items.map(resultOf));
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
    running--;
    startNext(running > 0 || callsMax === 1);
  };

  const watchExpiry = () => {
    const [head] = queue;
    if (!head || waitMsMax === undefined) {
      clearTimeout(expiry);
      expiry = undefined;
    } else expiry ??= setTimeout(rejectExpired, head.queuedMs + waitMsMax - performance.now(), waitMsMax);
  };

  const rejectExpired = (waitMsMax: number) => {
    expiry = undefined;
    const expiredMs = performance.now() - waitMsMax;
    const firstLive = queue.findIndex(({ queuedMs }) => queuedMs > expiredMs);
    for (const { reject } of dequeue(firstLive === -1 ? queue.length : firstLive))
      reject(new DatabaseBusy(waitMsMax));
    watchExpiry();
  };

  return (items) =>
    new Promise((resolve, reject) => {
      queue.push({ items, queuedMs: performance.now(), resolve, reject });
      waiting += items.length;
      // What was read from the sockets in this turn of the event loop is written together.
      setImmediate(() => startNext(running > 0 || gathering !== undefined));
    });
}
