import { setTimeout as wait } from "node:timers/promises";

/** After a call the next one begins when so many items wait, or so long after it. */
export type Gathering = { worth: number; maxMs: number };

/**
 * Gathers items that wait at the same moment into one call of `write`, at most `itemsMax` each, one call at a time. Where
 * nobody waited before, an item goes at once; those that come meanwhile gather for the next call, since a statement
 * costs as much as several rows. Every caller gets the result of its own items. A failed call fails those who were in
 * it, nobody else.
 */
export function coalesce<Item, Result>(
  itemsMax: number,
  write: (items: Item[]) => Promise<(item: Item) => Result>,
  { worth, maxMs }: Gathering = { worth: 1, maxMs: 0 },
): (items: Item[]) => Promise<Result[]> {
  const queue: { items: Item[]; resolve(results: Result[]): void; reject(error: unknown): void }[] = [];
  let waiting = 0;
  let isWriting = false;
  let onWorth = () => {};

  const gather = async () => {
    if (waiting === 0 || waiting >= worth) return;
    const enough = new AbortController();
    onWorth = () => enough.abort();
    await wait(maxMs, undefined, { signal: enough.signal }).catch(() => {});
    onWorth = () => {};
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
      await gather();
    }
    isWriting = false;
  };

  return (items) =>
    new Promise((resolve, reject) => {
      queue.push({ items, resolve, reject });
      waiting += items.length;
      if (waiting >= worth) onWorth();
      setImmediate(() => void next());
    });
}
