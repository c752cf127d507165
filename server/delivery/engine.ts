import { performance } from "node:perf_hooks";
import type { CapRule } from "#db/schema/deliveries";
import { TICK_WORKER_ID } from "#db/schema/workers";
import type { WorkerDeps } from "#server/deps";
import { type AttemptContext, attemptEmail } from "./attempt/attempt-email";
import { createLongTexts } from "./attempt/long-texts";
import { createSigningKeys } from "./attempt/signing-keys";
import { readMessages, type StoredMessage } from "./attempt/stored-messages";
import {
  type Claim,
  claimDeliveries,
  claimSuspects,
  leaseMs as defaultLeaseMs,
  hasMoreDue,
  markHandedOver,
  releaseClaims,
  renewLeases,
} from "./queue/claims";
import { coalesce } from "./queue/coalesce";
import { type DeliveryResult, recordResults, type Written } from "./queue/record-results";
import { createRunner, type Lease, type Runner, type RunnerOptions } from "./queue/runner";
import { createRouting, type Route } from "./routing/routes";
import { createBacklogMover } from "./throttle/backlog-mover";
import { createHandOverWithinCaps, moveBatch } from "./throttle/caps";
import { createDestinationLimits } from "./throttle/destination-limits";
import { createThrottles } from "./throttle/destination-throttles";
import { createDialogueRunner } from "./throttle/dialogue-runner";
import { postponeBacklog } from "./throttle/postpone-backlog";
import { createThrottledAttempt } from "./throttle/throttled-attempt";

/** Maximum claimed deliveries with an attempt in progress. More would wait here while another worker could send them. */
const claimsMax = 300;
const claimBatchMax = 150;
/** With less capacity than this, a claim is not worth a statement. */
const claimCapacityMin = 100;
/** Messages that are prepared ahead keep the dialogues busy while a hand-over waits for its batch. */
const handOverBatching = { itemsMin: 20, maxMs: 4 };
/** Results can wait for a batch. The wait is short because a crash before the write makes their outcomes unknown. */
const recordBatching = { itemsMax: 500, itemsMin: 60, maxMs: 15 };
/** Maximum concurrent dialogues with one destination. */
const slotsPerDestination = (dialoguesMax: number): number => Math.max(1, Math.floor(dialoguesMax / 2));
/** Slow dialogues allowed in addition to the limit, as a multiple of it. */
const slowDialoguesFactor = 4;
/** Poll interval for suspects after a claim found none. */
const suspectsPollMs = 1_000;

export type EngineOptions = RunnerOptions & {
  /** Concurrent SMTP dialogues. */
  dialoguesMax: number;
  /** Id of the worker's heartbeat. Default: `TICK_WORKER_ID`, the scheduled round. */
  workerId?: string;
  /** Duration of a lease unless renewed. */
  leaseMs?: number;
};

/** Claims of one email that one attempt covers. Without a route only scripted and suppressed recipients get results. */
type EmailJob = { claims: Claim[]; stored: StoredMessage; route: Route | null; releaseText(): void };

/** Sends the queued emails: claims deliveries, makes attempts and records results, many emails in parallel. */
export function createEngine(deps: WorkerDeps, options: EngineOptions): Runner<Claim> {
  const { hot, log } = deps;
  const { leaseMs = defaultLeaseMs } = options;

  const markBatch = coalesce<Claim & { offersUnsubscribe: boolean }, boolean>(
    500,
    async (claims) => {
      const marked = await markHandedOver(hot, claims);
      return ({ id }) => marked.has(id);
    },
    handOverBatching,
  );

  const routing = createRouting(deps);
  type Requeue = { rule: "destination_pace" | "relay_paused" | CapRule; waitMs: number };
  const requeueBatch = coalesce<Lease & Requeue, void>(500, async (claims) => {
    for (const reason of new Set(claims.map(({ rule }) => rule)))
      await releaseClaims(
        hot,
        claims.filter(({ rule }) => rule === reason),
        reason,
      );
    return () => undefined;
  });
  const requeue = async (claims: readonly Claim[], ruleOf: (claim: Claim) => Requeue) => {
    await requeueBatch(
      claims.map((claim) => ({ id: claim.id, leaseToken: claim.leaseToken, ...ruleOf(claim) })),
    );
    runner.forget(claims);
  };
  const moveBacklog = createBacklogMover(log);
  const throttles = createThrottles({
    concurrencyMax: slotsPerDestination(options.dialoguesMax),
    nowMs: () => performance.now(),
  });
  const applyDestinationLimits = createDestinationLimits(deps, throttles, options.workerId ?? TICK_WORKER_ID);
  const runThrottled = createThrottledAttempt(
    throttles,
    (claims, waitMs) => requeue(claims, () => ({ rule: "destination_pace", waitMs })),
    (queue, count) =>
      moveBacklog(`pace ${queue.teamId} ${queue.destination}`, count, () =>
        throttles.postponeBehind(queue.destination, (schedule) =>
          postponeBacklog(hot, queue, schedule, moveBatch),
        ),
      ),
  );
  const handOverWithinCaps = createHandOverWithinCaps(deps, requeue, moveBacklog);

  const longTexts = createLongTexts(deps, () => options.onCapacity?.());
  const context: Omit<AttemptContext, "withText" | "signal"> = {
    runThrottled,
    waitForRelay: (claims, waitMs) => requeue(claims, () => ({ rule: "relay_paused", waitMs })),
    findKeys: createSigningKeys(deps),
    runDialogue: createDialogueRunner(options.dialoguesMax, options.dialoguesMax * slowDialoguesFactor),
    canStart: (claims) => !runner.isDraining() && claims.every(runner.ownsLease),
    ownsLease: (claim) => runner.ownsLease(claim),
    async handOver(claims, stored) {
      const mine = runner.isDraining() ? [] : claims.filter(runner.ownsLease);
      if (mine.length === 0) return [];
      if (stored.isCapped) return handOverWithinCaps(mine, stored);
      const offersUnsubscribe = stored.listUnsubscribe;
      const marked = await markBatch(mine.map((claim) => ({ ...claim, offersUnsubscribe })));
      return mine.filter((_, index) => marked[index]);
    },
  };

  /** Reads the emails of these claims and groups the claims by attempt. Surplus claims return to the queue. */
  async function planJobs(
    claims: Claim[],
    isSuspect: boolean,
  ): Promise<{ jobs: EmailJob[]; hasSurplus: boolean }> {
    if (claims.length === 0) return { jobs: [], hasSurplus: false };
    const [messages, routeOf] = await Promise.all([
      readMessages(hot, claims),
      routing.read(claims.map(({ teamId }) => teamId)),
      applyDestinationLimits(claims),
    ]);
    const jobs: EmailJob[] = [];
    const surplus: Claim[] = [];
    for (const [emailId, ofEmail] of groupBy(claims, (claim) => claim.emailId)) {
      const stored = messages.get(emailId);
      if (!stored) continue;
      if (!isSuspect && !longTexts.hasCapacity(stored)) {
        surplus.push(...ofEmail);
        continue;
      }
      const route = routeOf(stored);
      for (const group of groupByDialogue(ofEmail, route)) {
        const releaseText = longTexts.reserve(stored, group.length);
        jobs.push({ claims: group, stored, route, releaseText });
      }
    }
    if (surplus.length > 0) await releaseClaims(hot, surplus, "released");
    return { jobs, hasSurplus: surplus.length > 0 };
  }

  /** The jobs of one suspect email. They are in progress until the next one is claimed. */
  const suspects = new Set<EmailJob>();
  let suspectsDueAtMs = 0;
  async function planSuspects(leaseToken: string): Promise<EmailJob[]> {
    if (suspects.size > 0 || performance.now() < suspectsDueAtMs) return [];
    suspectsDueAtMs = performance.now() + suspectsPollMs;
    const claims = await claimSuspects(hot, { limit: claimBatchMax, leaseToken, forMs: leaseMs });
    const { jobs } = await planJobs(claims, true);
    for (const job of jobs) suspects.add(job);
    return jobs;
  }

  /** Attempts that only wait for their result to be recorded use little capacity, but they have a limit too. */
  const capacityNow = () =>
    Math.min(claimBatchMax, claimsMax - runner.attempting.size, 2 * claimsMax - runner.claimCount());

  const runner: Runner<Claim> = createRunner<Claim, EmailJob, DeliveryResult, Written>(
    {
      name: "delivery",
      leaseMs,
      batching: recordBatching,
      hasCapacity: () => capacityNow() >= claimCapacityMin,

      async claim(leaseToken) {
        const maxByTeam = longTexts.capacityByTeam();
        const claims = await claimDeliveries(hot, {
          limit: capacityNow(),
          leaseToken,
          forMs: leaseMs,
          maxByTeam,
        });
        const { jobs, hasSurplus } = await planJobs(claims, false);
        const ofSuspect = await planSuspects(leaseToken);
        return {
          jobs: [...jobs, ...ofSuspect],
          hasMore: hasMoreDue(claims) || hasSurplus || ofSuspect.length > 0,
        };
      },

      async run(job) {
        const { stored, claims, route, releaseText } = job;
        const withText = (message: StoredMessage) => longTexts.withText(message).finally(releaseText);
        try {
          const results = await attemptEmail(deps, stored, claims, route, {
            ...context,
            withText,
            signal: runner.signal,
          });
          return results.map((result) => ({ ...result, isAlone: stored.isAlone }));
        } finally {
          releaseText();
          if (suspects.delete(job) && suspects.size === 0) {
            suspectsDueAtMs = 0;
            options.onCapacity?.();
          }
        }
      },

      record: (results) => recordResults(hot, results),
      release: (claims, { route }) =>
        releaseClaims(hot, claims, runner.isDraining() || route ? "released" : "no_transport"),
      renew: (leaseTokens) => renewLeases(hot, leaseTokens, leaseMs),
      close: () => routing.close(),
    },
    log,
    options,
  );
  return runner;
}

/**
 * Groups the claims of one email by attempt: one group for a relay, one per destination for direct delivery. A slow
 * destination then does not delay the results of another.
 */
const groupByDialogue = (claims: Claim[], route: Route | null): Claim[][] =>
  route?.isByDestination ? [...groupBy(claims, ({ domain }) => domain).values()] : [claims];

function groupBy(claims: readonly Claim[], keyOf: (claim: Claim) => string): Map<string, Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const group = groups.get(keyOf(claim));
    if (group) group.push(claim);
    else groups.set(keyOf(claim), [claim]);
  }
  return groups;
}
