import { performance } from "node:perf_hooks";
import { errorFacts, type Log } from "#server/log";

/** So many claims of a queue are given back one by one before the rest of it is moved by statements. */
const worthMoving = 20;
/** How many statements in a row, and how long until others are begun for the same queue. */
const movesMax = 20;
const restMs = 1_000;
/** Queues that are remembered, beside those that are being moved. */
const queuesMax = 10_000;

/** Notes that claims of that queue were given back, and moves what stands behind them by `move`, which tells how many. */
export type ClearTheWay = (queue: string, givenBack: number, move: () => Promise<number>) => Promise<void>;

/**
 * Where one queue has to wait, what waits in it shall neither be claimed in vain nor stand before others: moved as long as
 * that moves anything, by one at a time.
 */
export function createClearTheWay(log: Log): ClearTheWay {
  const queues = new Map<string, { givenBack: number; restsUntilMs: number }>();

  function forgetIdle(): void {
    for (const [name, { restsUntilMs }] of queues) if (restsUntilMs < performance.now()) queues.delete(name);
  }

  return async (name, givenBack, move) => {
    const queue = queues.get(name) ?? { givenBack: 0, restsUntilMs: 0 };
    if (queues.size >= queuesMax) forgetIdle();
    queues.set(name, queue);
    queue.givenBack += givenBack;
    if (queue.givenBack < worthMoving || queue.restsUntilMs > performance.now()) return;
    queue.restsUntilMs = Number.POSITIVE_INFINITY;
    try {
      for (let n = 0; n < movesMax && (await move()) > 0; n++);
    } catch (error) {
      log.warn("queue.not_moved", errorFacts(error));
    } finally {
      queue.givenBack = 0;
      queue.restsUntilMs = performance.now() + restMs;
    }
  };
}
