import { setMaxListeners } from "node:events";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { createChangeNotifier, listenForDue } from "#db/notify";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { maintainSecrets } from "#server/services/secrets/reseal";
import { createEngine } from "./engine";
import { deleteHeartbeat, recordHeartbeat } from "./housekeeping/heartbeat";
import { JOBS } from "./jobs/jobs";
import { startDueJobs } from "./jobs/run-jobs";
import { leaseMs as defaultLeaseMs } from "./queue/claims";
import { startPumpLoop } from "./queue/pump-loop";
import { createRouting } from "./routing/routes";
import { createCopySender, createSystemEmailSender } from "./system-mail/deliver";
import { createWebhookEngine } from "./webhooks/engine";

/** Two renewals in a row may fail before the lease expires. */
const renewalsPerLease = 3;
const heartbeatMs = 5_000;
const jobsPollMs = 1_000;
const secretsMs = 30_000;
const drainMs = 25_000;
/** More than the worker has tasks and jobs. */
const listenersMax = 40;
/** Sent emails would wake the webhook loop many times a second, mostly without work for it. */
const webhookWakeDelayMs = 50;

export type WorkerOptions = {
  /** Concurrent SMTP dialogues. */
  dialoguesMax?: number;
  /**
   * Duration of a lease unless renewed. The claims of a worker that dies or freezes are recovered after it.
   */
  leaseMs?: number;
};

export type Worker = { id: string; stop(): Promise<void> };

/**
 * Drains the queue until stopped. The worker reacts to notifications and also polls, renews its leases,
 * recovers expired leases of other workers and records a heartbeat. `stop` finishes deliveries in progress
 * within 25 s, releases the other claims and deletes the heartbeat. While the database is unavailable, the
 * worker keeps retrying.
 */
export async function startWorker(deps: WorkerDeps, options: WorkerOptions = {}): Promise<Worker> {
  const id = newId();
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(listenersMax, signal);
  const { leaseMs = defaultLeaseMs } = options;
  const warn = (event: string) => (error: unknown) =>
    deps.log.warn(event, { workerId: id, ...errorFacts(error) });
  // Emails and system emails share the connections of a relay: `pool=` limits those of the worker.
  const routing = createRouting(deps);
  const notifyPages = createChangeNotifier(deps.hot, warn("worker.notify_failed"));
  const wakeWebhooks = coalesceCalls(webhookWakeDelayMs, () => webhookLoop.wake());
  // Emails, webhooks, system emails and copies have separate concurrency limits and never wait for each
  // other.
  const engine = createEngine(deps, {
    routing,
    workerId: id,
    signal,
    dialoguesMax: options.dialoguesMax ?? 10,
    leaseMs,
    onCapacity: () => emailLoop.wake(),
    onRecorded: () => {
      notifyPages();
      wakeWebhooks();
    },
  });
  const webhooks = createWebhookEngine(deps, {
    signal,
    onRecorded: () => {
      notifyPages();
      webhookLoop.wake();
    },
  });
  const systemEmails = createSystemEmailSender(deps, routing, {
    signal,
    onCapacity: () => systemEmailLoop.wake(),
  });
  const copies = createCopySender(deps, routing, {
    signal,
    onCapacity: () => copyLoop.wake(),
    // The next copy of the same team.
    onRecorded: () => copyLoop.wake(),
  });
  const runners = [engine, webhooks, systemEmails, copies];
  const startLoop = (pump: () => Promise<boolean>, event: string) =>
    startPumpLoop(pump, { signal, onError: warn(event) });
  const emailLoop = startLoop(engine.pump, "worker.claim_failed");
  const webhookLoop = startLoop(webhooks.pump, "worker.webhook_claim_failed");
  const systemEmailLoop = startLoop(systemEmails.pump, "worker.system_mail_claim_failed");
  const copyLoop = startLoop(copies.pump, "worker.return_copy_claim_failed");
  const loops = [emailLoop, webhookLoop, systemEmailLoop, copyLoop];
  const wake = () => {
    engine.expectNewcomers();
    for (const loop of loops) loop.wake();
  };
  const listener = listenForDue(deps.hot, wake, warn("worker.listen_failed"));

  const every = async (ms: number, name: string, task: () => Promise<unknown>) => {
    while (!signal.aborted) {
      await task().catch(warn(`worker.${name}_failed`));
      await wait(ms, undefined, { signal }).catch(() => {});
    }
  };
  const onDue = (queue: "emails" | "webhooks") => (queue === "emails" ? emailLoop : webhookLoop).wake();
  const running = new Set<Promise<void>>();
  const startJobs = async () => {
    for (const job of await startDueJobs(deps, JOBS, { stop: signal, onDue })) {
      running.add(job);
      void job.finally(() => running.delete(job));
    }
  };
  const renewalTimer = setInterval(() => void engine.renew().catch(() => {}), leaseMs / renewalsPerLease);
  const tasks = [
    every(heartbeatMs, "beat", () => recordHeartbeat(deps, { id, host: hostname(), pid: process.pid })),
    every(secretsMs, "secrets", () => maintainSecrets(deps, () => !signal.aborted)),
    every(jobsPollMs, "jobs", startJobs),
  ];

  return {
    id,
    async stop() {
      stopping.abort();
      await Promise.all([...loops.map(({ done }) => done), ...tasks]);
      await Promise.all(running);
      await Promise.all(runners.map(({ drain }) => drain(drainMs)));
      clearInterval(renewalTimer);
      await listener.stop();
      await routing.close();
      await deps.transport?.close();
      await deleteHeartbeat(deps, id).catch(() => {});
    },
  };
}

/** Runs `call` after `afterMs`, once for all requests made in the meantime. */
function coalesceCalls(afterMs: number, call: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      call();
    }, afterMs).unref();
  };
}
