import { setTimeout as wait } from "node:timers/promises";

/** After a write the next one starts when `itemsMin` items wait, or after `maxMs`. */
export type Batching = { itemsMin?: number; maxMs?: number };

/**
 * Combines concurrent items into one call of `write`, with at most `itemsMax` items per call and one call at
 * a time. An item that arrives while idle is written immediately; later items form the next batch, because a
 * statement costs as much as several rows. Each caller gets the results of its own items. A failed call
 * rejects only the callers in that batch.
 */
export function coalesce<Item, Result>(
  itemsMax: number,
  write: (items: Item[]) => Promise<(item: Item) => Result>,
  { itemsMin = 1, maxMs = 0 }: Batching = {},
): (items: Item[]) => Promise<Result[]> {
  const queue: { items: Item[]; resolve(results: Result[]): void; reject(error: unknown): void }[] = [];
  let waiting = 0;
  let isWriting = false;
  let onEnough = () => {};

  const waitForItems = async () => {
    if (waiting === 0 || waiting >= itemsMin) return;
    const enough = new AbortController();
    onEnough = () => enough.abort();
    await wait(maxMs, undefined, { signal: enough.signal }).catch(() => {});
    onEnough = () => {};
  };

  const next = async () => {
    if (isWriting) return;
    isWriting = true;
    while (queue.length > 0) {
      let count = 1;
      for (let size = queue[0]?.items.length ?? 0; count < queue.length; count++) {
        size += queue[count]?.items.length ?? 0;
        if (size > itemsMax) break;
      }
      const batch = queue.splice(0, count);
      const items = batch.flatMap((entry) => entry.items);
      waiting -= items.length;
      try {
        const resultOf = await write(items);
        for (const entry of batch) entry.resolve(entry.items.map(resultOf));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      await waitForItems();
    }
    isWriting = false;
  };

  return (items) =>
    new Promise((resolve, reject) => {
      queue.push({ items, resolve, reject });
      waiting += items.length;
      if (waiting >= itemsMin) onEnough();
      setImmediate(() => void next());
    });
}
