import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import { TICK_WORKER_ID } from "#db/schema/workers";
import type { WorkerDeps } from "#server/deps";
import { createEngine } from "./engine";
import { beat, sweep } from "./housekeeping";
import { callRound } from "./webhooks/round";

/**
 * One bounded round of delivery, for where nothing runs between requests: sweeps, then claims and delivers until nothing
 * is due or the time is up, calls the endpoints that want to hear of it, and waits for what it began. Rounds may overlap or be missed: leases make the one harmless,
 * the next round the other.
 */
export async function tick(
  deps: WorkerDeps,
  options: { budgetMs: number; dialoguesMax?: number },
): Promise<void> {
  const untilMs = performance.now() + options.budgetMs;
  await beat(deps, { id: TICK_WORKER_ID, host: hostname(), pid: process.pid });
  await sweep(deps);
  const leftMs = () => Math.max(0, untilMs - performance.now());
  let isMailDone = false;
  const deliver = async () => {
    const engine = createEngine(deps, { dialoguesMax: options.dialoguesMax ?? 5 });
    while (leftMs() > 0) {
      const mayHoldMore = await engine.pump();
      await engine.idle(leftMs());
      if (!mayHoldMore) break;
    }
    await engine.drain(leftMs());
  };
  await Promise.all([
    deliver().finally(() => {
      isMailDone = true;
    }),
    callRound(deps, { leftMs, mayComeMore: () => !isMailDone }),
  ]);
}
