import { analyzeNewPartitions } from "#db/partitions";
import type { WorkerDeps } from "#server/deps";
import { evaluateAlerts } from "#server/services/alerts/evaluate";
import { recheckDomains } from "#server/services/domains/check/verify";
import { runErasures } from "#server/services/erasures/run";
import { deleteDueTeams } from "#server/services/team-deletions/run";
import { countNewEvents } from "../housekeeping/count-events";
import { deleteOldRecords } from "../housekeeping/old-records";
import { maintainPartitions } from "../housekeeping/partitions";
import { applyRetention } from "../housekeeping/retention";
import { sweep } from "../housekeeping/sweep";
import { probePausedRelays } from "../routing/relay-faults";
import { sweepWebhooks } from "../webhooks/sweep";

/** Periodic work of the installation. Of all processes, one runs it at a time. */
export type Job = {
  name: string;
  /** From the end of a run to the next one. */
  everySeconds: number;
  /** The queue whose rows it makes due. It runs before the deliveries of a round. */
  feeds?: "emails" | "webhooks";
  /**
   * Works in small steps and ends soon after `stop` is aborted: the process stops, the time is up, or another
   * process has the lease. What cannot be ended takes at most `msMax`. A job that feeds a queue returns how
   * many rows became due.
   */
  run(deps: WorkerDeps, stop: AbortSignal, msMax: number): Promise<unknown>;
};

/** Domains checked in parallel. Each check is about twelve DNS queries. */
const domainChecksMax = 10;

const until = (stop: AbortSignal) => () => !stop.aborted;

/** All periodic work, of workers and of the rounds of functions. */
export const JOBS: readonly Job[] = [
  { name: "sweep", everySeconds: 5, feeds: "emails", run: (deps) => sweep(deps) },
  { name: "webhook_sweep", everySeconds: 5, feeds: "webhooks", run: sweepWebhooks },
  {
    name: "relay_probes",
    everySeconds: 5,
    feeds: "emails",
    run: (deps, _, msMax) => probePausedRelays(deps, msMax),
  },
  {
    name: "domain_checks",
    everySeconds: 15,
    run: (deps, stop) => recheckDomains(deps, domainChecksMax, stop),
  },
  { name: "metrics", everySeconds: 30, run: (deps, stop) => countNewEvents(deps, until(stop)) },
  { name: "old_records", everySeconds: 30, run: (deps, stop) => deleteOldRecords(deps, until(stop)) },
  // A little less than a minute, so that a round of every minute does not skip one.
  { name: "alerts", everySeconds: 55, run: evaluateAlerts },
  { name: "retention", everySeconds: 30, run: (deps, stop) => applyRetention(deps, until(stop)) },
  { name: "statistics", everySeconds: 5, run: ({ hot }, stop) => analyzeNewPartitions(hot, until(stop)) },
  { name: "partitions", everySeconds: 300, run: (deps, stop) => maintainPartitions(deps, until(stop)) },
  { name: "erasures", everySeconds: 30, run: (deps, stop) => runErasures(deps, until(stop)) },
  { name: "team_deletions", everySeconds: 30, run: (deps, stop) => deleteDueTeams(deps, until(stop)) },
];
