import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
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
import { writeMissingTerms } from "./housekeeping/search-terms";
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

/**
 * One bounded round of delivery, for platforms where no process runs between requests. It sweeps, then claims and
 * delivers until nothing is due or `budgetMs` is over, sends webhook events, and waits for the attempts it started. In the
 * remaining time it checks domains, aggregates usage, applies retention, and erases addresses and teams. Rounds may overlap, because claims are leased;
 * a missed round is made up by the next one. Throws
 * `UnsupportedReleaseError` without any change if the schema no longer supports this build.
 */
export async function tick(
  deps: WorkerDeps,
  options: { budgetMs: number; dialoguesMax?: number },
): Promise<void> {
  const deadlineMs = performance.now() + options.budgetMs;
  const unsupported = await findUnsupportedRelease(deps.hot);
  if (unsupported) throw unsupported;
  await recordHeartbeat(deps, { id: TICK_WORKER_ID, host: hostname(), pid: process.pid });
  await sweep(deps);
  await probePausedRelays(deps, probeMs);
  const leftMs = () => Math.max(0, deadlineMs - performance.now());
  let isEmailDone = false;
  const runUntilEmpty = async ({ pump, idle, drain }: Pick<Runner<Lease>, "pump" | "idle" | "drain">) => {
    while (leftMs() > 0) {
      const hasMore = await pump();
      await idle(leftMs());
      if (!hasMore) break;
    }
    await drain(leftMs());
  };
  // Emails and system emails share the connections of a relay: `pool=` limits those of the round.
  const routing = createRouting(deps);
  const { dialoguesMax = 5 } = options;
  const ofRoute = [
    runUntilEmpty(createSystemEmailSender(deps, routing)),
    runUntilEmpty(createEngine(deps, { dialoguesMax, routing })).finally(() => {
      isEmailDone = true;
    }),
  ];
  const closed = Promise.allSettled(ofRoute).then(() => routing.close());
  await Promise.all([...ofRoute, closed, runWebhookRound(deps, { leftMs, mayHaveMore: () => !isEmailDone })]);
  if (leftMs() > checkMsMax) await recheckDomains(deps, domainChecksMax);
  if (leftMs() > 0) await aggregateUsage(deps, () => leftMs() > 0);
  if (leftMs() > 0) await evaluateAlerts(deps);
  if (leftMs() > 0) await writeMissingTerms(deps, () => leftMs() > 0);
  if (leftMs() > 0) await applyRetention(deps, () => leftMs() > 0);
  if (leftMs() > 0) await maintainPartitions(deps, () => leftMs() > 0);
  if (leftMs() > 0) await runErasures(deps, () => leftMs() > 0);
  if (leftMs() > 0) await deleteDueTeams(deps, () => leftMs() > 0);
}
