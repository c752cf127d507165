/** A semaphore: at most `max` holders, the others wait in order. Each `acquire` is followed by one `release`. */
export type Slots = { acquire(): Promise<void>; release(): void };

export function createSlots(max: number): Slots {
  const waiting: (() => void)[] = [];
  let free = max;
  return {
    async acquire() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    release() {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
  };
}
