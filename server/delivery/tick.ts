import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import { findUnsupportedRelease } from "#db/compatibility";
import { TICK_WORKER_ID } from "#db/schema/deliveries";
import type { WorkerDeps } from "#server/deps";
import { within } from "#server/platform/within";
import { maintainSecrets } from "#server/services/secrets/reseal";
import { createEngine } from "./engine";
import { recordHeartbeat } from "./housekeeping/heartbeat";
import { JOBS } from "./jobs/jobs";
import { startDueJobs } from "./jobs/run-jobs";
import type { Lease, Runner } from "./queue/runner";
import { createRouting } from "./routing/routes";
import { createCopySender, createSystemEmailSender } from "./system-mail/deliver";
import { runWebhookRound } from "./webhooks/round";

/** What makes email due runs in each round, and must not use it up: a paused relay may not respond. */
const feedMsMax = 5_000;

const FEEDS = JOBS.filter(({ feeds }) => feeds !== undefined);
const OTHERS = JOBS.filter(({ feeds }) => feeds === undefined);

/** The last part of a round starts no delivery, so that housekeeping runs however much email is due. */
const housekeepingShare = 0.25;

/**
 * One bounded round of delivery, for platforms where no process runs between requests. It runs the jobs that
 * make email due, then claims and delivers until nothing is due or three quarters of `budgetMs` are over,
 * sends webhook events, and waits for the attempts it started. The other jobs have the remaining time. Rounds
 * may overlap, because claims and jobs are leased; a missed round is made up by the next one. Throws
 * `UnsupportedReleaseError` without any change if the schema no longer supports this build.
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
  // Before anything is signed: this round may be the first since another secret became active.
  await maintainSecrets(deps, () => true);
  const feedStop = AbortSignal.timeout(feedMsMax);
  const feeding = { stop: feedStop, msMax: feedMsMax, ignoresInterval: true };
  await Promise.all(await startDueJobs(deps, FEEDS, feeding));
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
    runUntilEmpty(createCopySender(deps, routing)),
    runUntilEmpty(createEngine(deps, { dialoguesMax, routing })).finally(() => {
      isEmailDone = true;
    }),
  ];
  const closed = Promise.allSettled(ofRoute).then(() => routing.close());
  const delivered = Promise.all([
    ...ofRoute,
    closed,
    runWebhookRound(deps, { leftMs, mayHaveMore: () => !isEmailDone }),
  ]);
  // Attempts in progress may need all of the time. The other jobs do not wait for them, but usually follow.
  await within(delivered, { ms: claimLeftMs() }).catch(() => {});
  const [msMax, stop] = [leftMs(), AbortSignal.timeout(Math.ceil(leftMs()))];
  await Promise.all([delivered, ...(await startDueJobs(deps, OTHERS, { stop, msMax }))]);
}
