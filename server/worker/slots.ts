/** At most `max` at once; the others wait in order. Every `enter` is followed by one `leave`. */
export type Slots = { enter(): Promise<void>; leave(): void };

export function createSlots(max: number): Slots {
  const waiting: (() => void)[] = [];
  let free = max;
  return {
    async enter() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    leave() {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
  };
}
