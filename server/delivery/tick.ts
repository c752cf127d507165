import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { findUnsupportedRelease } from "#db/compatibility";
import { TICK_WORKER_ID } from "#db/schema/deliveries";
import type { WorkerDeps } from "#server/deps";
import { evaluateAlerts } from "#server/services/alerts/evaluate";
import { checkMsMax } from "#server/services/domains/check/doctor";
import { recheckDomains } from "#server/services/domains/check/verify";
import { runErasures } from "#server/services/erasures/run";
import { deleteDueTeams } from "#server/services/team-deletions/run";
import { createEngine } from "./engine";
import { maintainPartitions } from "./housekeeping/partitions";
import { applyRetention } from "./housekeeping/retention";
import { recordHeartbeat, sweep } from "./housekeeping/sweep";
import { aggregateUsage } from "./housekeeping/usage";
import type { Lease, Runner } from "./queue/runner";
import { probePausedRelays } from "./routing/relay-faults";
import { createRouting } from "./routing/routes";
import { createSystemEmailSender } from "./system-mail/deliver";
import { runWebhookRound } from "./webhooks/round";

const domainChecksMax = 5;
/** A paused relay that does not respond must not use up the round. */
const probeMs = 5_000;

/** The last part of a round starts no delivery, so that housekeeping runs however much email is due. */
const housekeepingShare = 0.25;

/**
 * One bounded round of delivery, for platforms where no process runs between requests. It sweeps, then claims
 * and delivers until nothing is due or three quarters of `budgetMs` are over, sends webhook events, and waits
 * for the attempts it started. In the remaining time it aggregates usage, evaluates alerts, applies
 * retention, and erases addresses and teams; none of these uses the time of the others. Rounds may overlap,
 * because claims are leased; a missed round is made up by the next one. Throws `UnsupportedReleaseError`
 * without any change if the schema no longer supports this build.
 */
export async function tick(
  deps: WorkerDeps,
  options: { budgetMs: number; dialoguesMax?: number },
): Promise<void> {
  const { budgetMs, dialoguesMax = 5 } = options;
  const deadlineMs = performance.now() + budgetMs;
  const unsupported = await findUnsupportedRelease(deps.hot);
  if (unsupported) throw unsupported;
  await recordHeartbeat(deps, { id: TICK_WORKER_ID, host: hostname(), pid: process.pid });
  await sweep(deps);
  await probePausedRelays(deps, probeMs);
  const leftMs = () => Math.max(0, deadlineMs - performance.now());
  const claimLeftMs = () => Math.max(0, leftMs() - budgetMs * housekeepingShare);
  let isEmailDone = false;
  const runUntilEmpty = async ({ pump, idle, drain }: Pick<Runner<Lease>, "pump" | "idle" | "drain">) => {
    while (claimLeftMs() > 0) {
      const hasMore = await pump();
      await idle(claimLeftMs());
      if (!hasMore) break;
    }
    await drain(leftMs());
  };
  // Emails and system emails share the connections of a relay: `pool=` limits those of the round.
  const routing = createRouting(deps);
  const ofRoute = [
    runUntilEmpty(createSystemEmailSender(deps, routing)),
    runUntilEmpty(createEngine(deps, { dialoguesMax, routing })).finally(() => {
      isEmailDone = true;
    }),
  ];
  const closed = Promise.allSettled(ofRoute).then(() => routing.close());
  const delivered = Promise.all([
    ...ofRoute,
    closed,
    runWebhookRound(deps, { leftMs, mayHaveMore: () => !isEmailDone }),
    leftMs() > checkMsMax ? recheckDomains(deps, domainChecksMax) : null,
  ]);
  // Attempts in progress may need all of the time. Housekeeping does not wait for them, but usually follows
  // them.
  await within(claimLeftMs(), delivered);
  const results = await Promise.allSettled([delivered, runHousekeeping(deps, leftMs)]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/**
 * Each task gets an equal part of the time that is left, and what the tasks before it did not use. One that
 * fails stops no other; the first error is thrown at the end.
 */
async function runHousekeeping(deps: WorkerDeps, leftMs: () => number): Promise<void> {
  const tasks: ((shouldContinue: () => boolean) => Promise<void>)[] = [
    (shouldContinue) => aggregateUsage(deps, shouldContinue),
    () => evaluateAlerts(deps),
    (shouldContinue) => runErasures(deps, shouldContinue),
    (shouldContinue) => deleteDueTeams(deps, shouldContinue),
    (shouldContinue) => applyRetention(deps, shouldContinue),
    (shouldContinue) => maintainPartitions(deps, shouldContinue),
  ];
  const errors: unknown[] = [];
  for (const [index, task] of tasks.entries()) {
    const untilMs = performance.now() + leftMs() / (tasks.length - index);
    if (leftMs() > 0) await task(() => performance.now() < untilMs).catch((error) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

/** Resolves when the work has ended in any way, or after `ms`. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  const timeout = wait(ms, undefined, { signal: enough.signal }).catch(() => {});
  await Promise.race([work.catch(() => {}), timeout]);
  enough.abort();
}
