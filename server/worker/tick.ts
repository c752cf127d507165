import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import { TICK_WORKER_ID } from "#db/schema/workers";
import type { WorkerDeps } from "#server/deps";
import { lookMsMax } from "#server/services/domains/doctor";
import { recheckDomains } from "#server/services/domains/verify";
import { keepBooks } from "./bookkeeping";
import { createSystemMailPost } from "./deliver-system-mail";
import { createEngine } from "./engine";
import { beat, sweep } from "./housekeeping";
import { probePaused } from "./relays/faults";
import { keepRetention } from "./retention";
import { callRound } from "./webhooks/round";

const looksAtOnceMax = 5;
/** A paused relay that does not answer must not use up the round. */
const probeMs = 5_000;

/**
 * One bounded round of delivery, for where nothing runs between requests: sweeps, then claims and delivers until nothing
 * is due or the time is up, calls the endpoints that want to hear of it, and waits for what it began; in the time that is
 * left it looks at domains, keeps the books and takes away what is kept no longer. Rounds may overlap or be missed: leases make the one harmless, the next
 * round the other.
 */
export async function tick(
  deps: WorkerDeps,
  options: { budgetMs: number; dialoguesMax?: number },
): Promise<void> {
  const untilMs = performance.now() + options.budgetMs;
  await beat(deps, { id: TICK_WORKER_ID, host: hostname(), pid: process.pid });
  await sweep(deps);
  await probePaused(deps, probeMs);
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
  const deliverOwn = async () => {
    const post = createSystemMailPost(deps);
    while (leftMs() > 0 && (await post.pump())) await post.idle(leftMs());
    await post.drain(leftMs());
  };
  await Promise.all([
    deliverOwn(),
    deliver().finally(() => {
      isMailDone = true;
    }),
    callRound(deps, { leftMs, mayComeMore: () => !isMailDone }),
  ]);
  if (leftMs() > lookMsMax) await recheckDomains(deps, looksAtOnceMax);
  if (leftMs() > 0) await keepBooks(deps, () => leftMs() > 0);
  if (leftMs() > 0) await keepRetention(deps, () => leftMs() > 0);
}
