import { performance } from "node:perf_hooks";
import type { HotSql } from "#db/client";
import { createBatches, upTo } from "#server/platform/batches";
import { errorFacts, type Log } from "#server/platform/log";
import { type Claim, type DeliveryLease, type Release, releaseClaims } from "./claims";

/** Why and how long a claim must wait. `backlog`: the deliveries behind it that wait for the same reason. */
export type Requeue = Release & { waitMs: number; backlog?: Backlog };

/** `move` postpones some deliveries of the queue with this name and returns how many. */
export type Backlog = { name: string; move(): Promise<number> };

/** This many claims of a queue are released one by one before statements move the rest of the queue. */
const moveThreshold = 20;
/** Maximum statements in a row for one queue, and the wait before the next series. */
const movesMax = 20;
const moveCooldownMs = 1_000;
/** Maximum queues in memory, in addition to those that are being moved. */
const queuesMax = 10_000;

/**
 * Returns claims to the queue until their attempt may start. If many claims of a queue must wait, the rest of
 * it is moved with them: it then blocks no other delivery and is not claimed only to be released. One series
 * of moves runs at a time per queue, until it moves nothing or `movesMax` is reached.
 */
export function createRequeue(
  { hot, log }: { hot: HotSql; log: Log },
  forget: (claims: Claim[]) => void,
): (verdicts: ReadonlyMap<Claim, Requeue>) => Promise<void> {
  const queues = new Map<string, { requeued: number; cooldownUntilMs: number }>();
  const release = createBatches<DeliveryLease & Release, void>(
    async (claims) => {
      await releaseClaims(hot, claims);
      return () => undefined;
    },
    { countNext: upTo(500) },
  );

  async function moveBacklog({ name, move }: Backlog, requeued: number): Promise<void> {
    const queue = queues.get(name) ?? { requeued: 0, cooldownUntilMs: 0 };
    if (queues.size >= queuesMax)
      for (const [idle, { cooldownUntilMs }] of queues)
        if (cooldownUntilMs < performance.now()) queues.delete(idle);
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
  }

  return async (verdicts) => {
    const claims = [...verdicts.keys()];
    await release([...verdicts].map(([claim, { backlog: _, ...verdict }]) => ({ ...claim, ...verdict })));
    forget(claims);
    const [first] = verdicts.values();
    if (first?.backlog) await moveBacklog(first.backlog, claims.length);
  };
}
