import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { listenForDue } from "#db/notify";
import { leaseMs as usualLeaseMs } from "#db/queue";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/ids";
import { errorFacts } from "#server/log";
import { recheckDomains } from "#server/services/domains/verify";
import { keepBooks } from "./bookkeeping";
import { createSystemMailPost } from "./deliver-system-mail";
import { createEngine } from "./engine";
import { beat, sweep, withdrawBeat } from "./housekeeping";
import { startPumping } from "./pumping";
import { probePaused } from "./relays/faults";
import { keepRetention } from "./retention";
import { createLanes } from "./webhooks/lanes";
import { sweepWebhooks } from "./webhooks/sweep";

/** Twice it may fail before the lease is lost. */
const renewalsPerLease = 3;
const beatMs = 5_000;
const sweepMs = 5_000;
const relaysMs = 5_000;
const booksMs = 30_000;
const looksMs = 15_000;
/** Domains looked at side by side; each is a dozen questions to a name server. */
const looksAtOnceMax = 10;
const drainMs = 25_000;
/** Mail that is sent rouses the calls many times a second, mostly for nothing. */
const callsAfterMailMs = 50;

export type WorkerOptions = {
  /** SMTP dialogues at once. */
  dialoguesMax?: number;
  /** How long a claim lasts unless renewed; a worker that dies or stands still is found out after it. */
  leaseMs?: number;
};

export type Worker = { id: string; stop(): Promise<void> };

/**
 * Drains the queue until stopped: reacts to notifications, polls beside them, renews its leases, recovers those of
 * workers that died, and tells by a heartbeat that it lives. `stop` finishes what is under way within 25 s, gives back
 * the rest and leaves nothing behind. A database that is away is waited for.
 */
export async function startWorker(deps: WorkerDeps, options: WorkerOptions = {}): Promise<Worker> {
  const id = newId();
  const stopping = new AbortController();
  const { signal } = stopping;
  const { leaseMs = usualLeaseMs } = options;
  const warn = (event: string) => (error: unknown) =>
    deps.log.warn(event, { workerId: id, ...errorFacts(error) });
  // Each with places of its own, so that neither mail nor webhooks wait for the other.
  const engine = createEngine(deps, {
    workerId: id,
    signal,
    dialoguesMax: options.dialoguesMax ?? 10,
    leaseMs,
    onRoom: () => mail.rouse(),
    onRecorded: sparingly(callsAfterMailMs, () => calls.rouse()),
  });
  const lanes = createLanes(deps, { onRecorded: () => calls.rouse() });
  const mail = startPumping(() => engine.pump(), { signal, onFault: warn("worker.claim_failed") });
  const calls = startPumping(() => lanes.pump(), {
    signal,
    onFault: warn("worker.webhook_claim_failed"),
  });
  const post = createSystemMailPost(deps, { onRoom: () => ownMail.rouse() });
  const ownMail = startPumping(() => post.pump(), {
    signal,
    onFault: warn("worker.system_mail_claim_failed"),
  });
  const rouse = () => {
    mail.rouse();
    calls.rouse();
    ownMail.rouse();
  };
  const listening = listenForDue(deps.hot, rouse, warn("worker.listen_failed"));

  const every = async (intervalMs: number, what: string, task: () => Promise<unknown>) => {
    while (!stopping.signal.aborted) {
      await task().catch(warn(`worker.${what}_failed`));
      await wait(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const aliveWhileDraining = setInterval(
    () => void engine.renew().catch(() => {}),
    leaseMs / renewalsPerLease,
  );
  const tasks = [
    every(beatMs, "beat", () => beat(deps, { id, host: hostname(), pid: process.pid })),
    every(sweepMs, "sweep", async () => {
      if ((await sweep(deps)) > 0) mail.rouse();
    }),
    every(sweepMs, "webhook_sweep", async () => {
      if ((await sweepWebhooks(deps)) > 0) calls.rouse();
    }),
    every(relaysMs, "relays", async () => {
      if ((await probePaused(deps)) > 0) mail.rouse();
    }),
    every(looksMs, "looks", () => recheckDomains(deps, looksAtOnceMax, signal)),
    every(booksMs, "books", () => keepBooks(deps, () => !signal.aborted)),
    every(booksMs, "retention", () => keepRetention(deps, () => !signal.aborted)),
  ];

  return {
    id,
    async stop() {
      stopping.abort();
      await Promise.all([mail.done, calls.done, ownMail.done, ...tasks]);
      await Promise.all([engine.drain(drainMs), lanes.drain(drainMs), post.drain(drainMs)]);
      clearInterval(aliveWhileDraining);
      await listening.stop();
      await deps.transport?.close();
      await withdrawBeat(deps, id).catch(() => {});
    },
  };
}

/** Calls so long after it was asked to, once for all who ask meanwhile. */
function sparingly(afterMs: number, call: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    setTimeout(() => {
      isAsked = false;
      call();
    }, afterMs).unref();
  };
}
