import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { listenForDue } from "#db/notify";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/ids";
import { errorFacts } from "#server/log";
import { createEngine } from "./engine";
import { beat, sweep, withdrawBeat } from "./housekeeping";

/** The net below the notifications: a lost one costs this much. */
const pollMs = 1_000;
const renewMs = 20_000;
const beatMs = 5_000;
const sweepMs = 5_000;
const drainMs = 25_000;
const idleAfterFaultMs = 1_000;

export type WorkerOptions = {
  /** SMTP dialogues at once. */
  dialoguesMax?: number;
};

export type Worker = { id: string; stop(): Promise<void> };

/**
 * Drains the queue until stopped: reacts to notifications, polls beside them, renews its leases, recovers those of
 * workers that died, and tells by a heartbeat that it lives. `stop` finishes what is under way within 25 s, gives back
 * the rest and leaves nothing behind. A database that is away is waited for.
 */
export async function startWorker(deps: WorkerDeps, options: WorkerOptions = {}): Promise<Worker> {
  const id = newId();
  let rouse = () => {};
  const engine = createEngine(deps, {
    dialoguesMax: options.dialoguesMax ?? 10,
    onRoom: () => rouse(),
  });
  const stopping = new AbortController();
  const listening = listenForDue(
    deps.hot,
    () => rouse(),
    (error) => deps.log.warn("worker.listen_failed", { workerId: id, ...errorFacts(error) }),
  );

  const pumping = (async () => {
    while (!stopping.signal.aborted) {
      const roused = new Promise<void>((resolve) => {
        rouse = resolve;
      });
      try {
        if (await engine.pump()) continue;
      } catch (error) {
        deps.log.warn("worker.claim_failed", { workerId: id, ...errorFacts(error) });
        await wait(idleAfterFaultMs, undefined, { signal: stopping.signal }).catch(() => {});
        continue;
      }
      await Promise.race([roused, wait(pollMs, undefined, { signal: stopping.signal }).catch(() => {})]);
    }
  })();

  const every = async (intervalMs: number, what: string, task: () => Promise<unknown>) => {
    while (!stopping.signal.aborted) {
      try {
        await task();
      } catch (error) {
        deps.log.warn(`worker.${what}_failed`, { workerId: id, ...errorFacts(error) });
      }
      await wait(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const aliveWhileDraining = setInterval(() => void engine.renew().catch(() => {}), renewMs);
  const tasks = [
    every(beatMs, "beat", () => beat(deps, { id, host: hostname(), pid: process.pid })),
    every(sweepMs, "sweep", async () => {
      if ((await sweep(deps)) > 0) rouse();
    }),
  ];

  return {
    id,
    async stop() {
      stopping.abort();
      await Promise.all([pumping, ...tasks]);
      await engine.drain(drainMs);
      clearInterval(aliveWhileDraining);
      await listening.stop();
      await deps.transport?.close();
      await withdrawBeat(deps, id).catch(() => {});
    },
  };
}
