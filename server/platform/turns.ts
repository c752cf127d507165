/** Runs a task of a holder, such as a team, when it is the holder's turn. */
export type Turns = <T>(holder: string, task: () => Promise<T>) => Promise<T>;

/**
 * Runs at most `runningMax` tasks at a time, round-robin over holders, and one less of one holder: neither
 * many nor long tasks of one delay the others.
 */
export function createTurns(runningMax: number): Turns {
  const perHolderMax = Math.max(1, runningMax - 1);
  /** Tasks by holder, the next one first. A holder moves to the end after its turn. */
  const waiting = new Map<string, (() => void)[]>();
  const running = new Map<string, number>();
  let runningInAll = 0;

  const mayStart = (holder: string) => runningInAll < runningMax && (running.get(holder) ?? 0) < perHolderMax;
  const begin = (holder: string) => {
    runningInAll++;
    running.set(holder, (running.get(holder) ?? 0) + 1);
  };
  const end = (holder: string) => {
    runningInAll--;
    const left = (running.get(holder) ?? 1) - 1;
    if (left > 0) running.set(holder, left);
    else running.delete(holder);
    for (const [next, [start, ...others]] of waiting) {
      if (!mayStart(next)) continue;
      waiting.delete(next);
      if (others.length > 0) waiting.set(next, others);
      begin(next);
      start?.();
    }
  };
  return async (holder, task) => {
    if (mayStart(holder)) begin(holder);
    else
      await new Promise<void>((start) => {
        const own = waiting.get(holder);
        if (own) own.push(start);
        else waiting.set(holder, [start]);
      });
    return task().finally(() => end(holder));
  };
}
