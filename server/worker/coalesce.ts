/**
 * Gathers items that wait at the same moment into one call of `write`, at most `itemsMax` each, one call at a time. Every
 * caller gets the result of its own items. A failed call fails those who were in it, nobody else.
 */
export function coalesce<Item, Result>(
  itemsMax: number,
  write: (items: Item[]) => Promise<(item: Item) => Result>,
): (items: Item[]) => Promise<Result[]> {
  const queue: { items: Item[]; resolve(results: Result[]): void; reject(error: unknown): void }[] = [];
  let isWriting = false;

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
      try {
        const resultOf = await write(batch.flatMap(({ items }) => items));
        for (const { items, resolve } of batch) resolve(items.map(resultOf));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  };

  return (items) =>
    new Promise((resolve, reject) => {
      queue.push({ items, resolve, reject });
      setImmediate(() => void next());
    });
}
