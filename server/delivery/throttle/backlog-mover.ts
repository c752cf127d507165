import { performance } from "node:perf_hooks";
import { errorFacts, type Log } from "#server/platform/log";

/** This many claims of a queue are released one by one before statements move the rest of the queue. */
const moveThreshold = 20;
/** Maximum statements in a row for one queue, and the wait before the next series. */
const movesMax = 20;
const moveCooldownMs = 1_000;
/** Maximum queues in memory, in addition to those that are being moved. */
const queuesMax = 10_000;

/** Counts claims released from a queue and moves its backlog with `move`, which returns the number of moved deliveries. */
export type MoveBacklog = (queue: string, requeued: number, move: () => Promise<number>) => Promise<void>;

/**
 * Moves the backlog of a queue that must wait: it then blocks no other delivery and is not claimed only to be released.
 * `move` runs once at a time per queue, until it moves nothing or `movesMax` is reached.
 */
export function createBacklogMover(log: Log): MoveBacklog {
  const queues = new Map<string, { requeued: number; cooldownUntilMs: number }>();

  function deleteIdle(): void {
    for (const [name, { cooldownUntilMs }] of queues)
      if (cooldownUntilMs < performance.now()) queues.delete(name);
  }

  return async (name, requeued, move) => {
    const queue = queues.get(name) ?? { requeued: 0, cooldownUntilMs: 0 };
    if (queues.size >= queuesMax) deleteIdle();
    queues.set(name, queue);
    queue.requeued += requeued;
    if (queue.requeued < moveThreshold || queue.cooldownUntilMs > performance.now()) return;
    queue.cooldownUntilMs = Number.POSITIVE_INFINITY;
    try {
      for (let n = 0; n < movesMax && (await move()) > 0; n++);
    } catch (error) {
      log.warn("queue.not_moved", errorFacts(error));
    } finally {
      queue.requeued = 0;
      queue.cooldownUntilMs = performance.now() + moveCooldownMs;
    }
  };
}
