import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import type { CapRule } from "#db/schema/deliveries";
import { TICK_WORKER_ID } from "#db/schema/workers";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
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
  type LeasedDelivery,
  markHandedOver,
  releaseClaims,
  renewLeases,
} from "./queue/claims";
import { coalesce } from "./queue/coalesce";
import { createResultRecorder } from "./queue/result-recorder";
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
/** A lease counts as lost this share of its duration early, to leave time for the last packet of a dialogue. */
const leaseMargin = 1 / 6;
/** Messages that are prepared ahead keep the dialogues busy while a hand-over waits for its batch. */
const handOverBatching = { itemsMin: 20, maxMs: 4 };
/** Maximum concurrent dialogues with one destination. */
const slotsPerDestination = (dialoguesMax: number): number => Math.max(1, Math.floor(dialoguesMax / 2));
/** Slow dialogues allowed in addition to the limit, as a multiple of it. */
const slowDialoguesFactor = 4;
/** Poll interval for suspects after a claim found none. */
const suspectsPollMs = 1_000;

export type EngineOptions = {
  /** Concurrent SMTP dialogues. */
  dialoguesMax: number;
  /** Id of the worker's heartbeat. Default: `TICK_WORKER_ID`, the scheduled round. */
  workerId?: string;
  /** Duration of a lease unless renewed. */
  leaseMs?: number;
  /** After an abort the engine starts no new attempt, even before `drain` is called. */
  signal?: AbortSignal;
  /** Called when capacity is free again after a pump that had too little, or when suspects may be due. */
  onCapacity?: () => void;
  /** Called after results are written. Their events may have pending webhook deliveries. */
  onRecorded?: () => void;
};

export type Engine = {
  /** Claims due deliveries and starts their attempts. True if more may be due; false without due deliveries or capacity. */
  pump(): Promise<boolean>;
  /** Renews the leases of all claims. */
  renew(): Promise<void>;
  /** Resolves when no attempt is in progress, or after `maxMs`. */
  idle(maxMs: number): Promise<void>;
  /** Starts no new attempt, waits for dialogues and releases the other claims. Aborts dialogues after `graceMs`. */
  drain(graceMs: number): Promise<void>;
};

/**
 * Claims deliveries, makes attempts and records results, many emails in parallel. Its memory holds no durable state: if the
 * process dies, its claims are recovered when the leases expire. Each delivery is claimed, handed over and recorded in
 * this order; each step commits before the next one.
 */
export function createEngine(deps: WorkerDeps, options: EngineOptions): Engine {
  const { hot, log } = deps;
  const { leaseMs = defaultLeaseMs } = options;
  const held = new Map<string, Claim>();
  /** When the lease of each token was last granted or renewed, on this process's monotonic clock. */
  const renewedAtMs = new Map<string, number>();
  const jobs = new Set<Promise<void>>();
  const abort = new AbortController();
  // Each attempt in progress adds a listener.
  setMaxListeners(0, abort.signal);
  let isDrainRequested = false;
  const isDraining = () => isDrainRequested || options.signal?.aborted === true;
  let isFull = false;
  /** Claimed deliveries whose attempt is in progress. */
  let attemptsInProgress = 0;

  const ownsLease = ({ leaseToken }: Claim) =>
    performance.now() <
    (renewedAtMs.get(leaseToken) ?? Number.NEGATIVE_INFINITY) + leaseMs * (1 - leaseMargin);

  const markBatch = coalesce<Claim & { offersUnsubscribe: boolean }, boolean>(
    500,
    async (claims) => {
      const marked = await markHandedOver(hot, claims);
      return ({ id }) => marked.has(id);
    },
    handOverBatching,
  );
  const record = createResultRecorder(deps, {
    signal: abort.signal,
    onRecorded: () => options.onRecorded?.(),
  });

  const routing = createRouting(deps);
  type Requeue = { rule: "destination_pace" | "relay_paused" | CapRule; waitMs: number };
  /** Claims that were returned to the queue. */
  const requeued = new WeakSet<Claim>();
  const requeueBatch = coalesce<LeasedDelivery & Requeue, void>(500, async (claims) => {
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
    for (const claim of claims) requeued.add(claim);
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
  const context: Omit<AttemptContext, "withText"> = {
    runThrottled,
    waitForRelay: (claims, waitMs) => requeue(claims, () => ({ rule: "relay_paused", waitMs })),
    findKeys: createSigningKeys(deps),
    runDialogue: createDialogueRunner(options.dialoguesMax, options.dialoguesMax * slowDialoguesFactor),
    canStart: (claims) => !isDraining() && claims.every(ownsLease),
    ownsLease,
    signal: abort.signal,
    async handOver(claims, stored) {
      const mine = isDraining() ? [] : claims.filter(ownsLease);
      if (mine.length === 0) return [];
      if (stored.isCapped) return handOverWithinCaps(mine, stored);
      const offersUnsubscribe = stored.listUnsubscribe;
      const marked = await markBatch(mine.map((claim) => ({ ...claim, offersUnsubscribe })));
      return mine.filter((_, index) => marked[index]);
    },
  };

  async function runJob(stored: StoredMessage, claims: Claim[], route: Route | null): Promise<void> {
    let inProgress = claims.length;
    attemptsInProgress += inProgress;
    const releaseText = longTexts.reserve(stored, claims.length);
    const finishAttempt = () => {
      attemptsInProgress -= inProgress;
      inProgress = 0;
      if (!isFull || capacityNow() < claimCapacityMin) return;
      isFull = false;
      options.onCapacity?.();
    };
    try {
      const withText = (message: StoredMessage) => longTexts.withText(message).finally(releaseText);
      const results = await attemptEmail(deps, stored, claims, route, { ...context, withText });
      finishAttempt();
      if (results.length > 0) await record(results, stored.isAlone);
      const settled = new Set(results.map(({ id }) => id));
      const unsettled = claims.filter((claim) => !settled.has(claim.id) && !requeued.has(claim));
      if (unsettled.length > 0)
        await releaseClaims(hot, unsettled, isDraining() || route ? "released" : "no_transport");
    } catch (error) {
      // The rows stay leased. After expiry their stage decides how they are recovered.
      log.error("delivery.attempt_broken", { emailId: stored.id, ...errorFacts(error) });
    } finally {
      for (const { id } of claims) held.delete(id);
      releaseText();
      finishAttempt();
    }
  }

  /** Attempts that only wait for their result to be recorded use little capacity, but they have a limit too. */
  const capacityNow = () =>
    Math.min(claimBatchMax, claimsMax - attemptsInProgress, 2 * claimsMax - held.size);

  /** Claims deliveries and starts their attempts. `done` resolves after the last attempt. */
  async function claimAndStart(
    claim: typeof claimDeliveries,
    limit: number,
  ): Promise<{ count: number; hasMore: boolean; done: Promise<unknown> }> {
    const leaseToken = newId();
    const requestedAtMs = performance.now();
    const maxByTeam = longTexts.capacityByTeam();
    const claims = await claim(hot, { limit, leaseToken, forMs: leaseMs, maxByTeam });
    if (claims.length === 0) return { count: 0, hasMore: false, done: Promise.resolve() };
    renewedAtMs.set(leaseToken, requestedAtMs);
    for (const claimed of claims) held.set(claimed.id, claimed);
    // If reading fails, no attempt starts. The leases expire and the deliveries are due again.
    const [messages, routeOf] = await Promise.all([
      readMessages(hot, claims),
      routing.read(claims.map(({ teamId }) => teamId)),
      applyDestinationLimits(claims),
    ]).catch((error) => {
      for (const { id } of claims) held.delete(id);
      throw error;
    });
    const started: Promise<void>[] = [];
    const surplus: Claim[] = [];
    for (const [emailId, ofEmail] of groupBy(claims, (claim) => claim.emailId)) {
      const stored = messages.get(emailId);
      const shouldWait = stored !== undefined && claim !== claimSuspects && !longTexts.hasCapacity(stored);
      if (shouldWait) surplus.push(...ofEmail);
      if (!stored || shouldWait) {
        for (const { id } of ofEmail) held.delete(id);
        continue;
      }
      const route = routeOf(stored);
      for (const group of groupByDialogue(ofEmail, route)) {
        const job = runJob(stored, group, route).finally(() => jobs.delete(job));
        jobs.add(job);
        started.push(job);
      }
    }
    if (surplus.length > 0) await releaseClaims(hot, surplus, "released");
    const hasMore = hasMoreDue(claims) || surplus.length > 0;
    return { count: claims.length, hasMore, done: Promise.all(started) };
  }

  /** On the monotonic clock; infinite while a suspect email is in progress. */
  let suspectsDueAtMs = 0;
  async function pumpSuspects(): Promise<boolean> {
    if (performance.now() < suspectsDueAtMs) return false;
    suspectsDueAtMs = performance.now() + suspectsPollMs;
    const { count, done } = await claimAndStart(claimSuspects, claimBatchMax);
    if (count === 0) return false;
    suspectsDueAtMs = Number.POSITIVE_INFINITY;
    void done.then(() => {
      suspectsDueAtMs = 0;
      options.onCapacity?.();
    });
    return true;
  }

  return {
    async pump() {
      const capacity = capacityNow();
      isFull = capacity < claimCapacityMin;
      if (isDraining() || isFull) return false;
      const { hasMore } = await claimAndStart(claimDeliveries, capacity);
      const hasSuspects = await pumpSuspects();
      return hasMore || hasSuspects;
    },

    async renew() {
      const tokens = [...new Set([...held.values()].map(({ leaseToken }) => leaseToken))];
      for (const token of renewedAtMs.keys()) if (!tokens.includes(token)) renewedAtMs.delete(token);
      if (tokens.length === 0) return;
      const requestedAtMs = performance.now();
      await renewLeases(hot, tokens, leaseMs);
      // An expired lease stays lost, even if this process was only late.
      for (const token of tokens)
        if ((renewedAtMs.get(token) ?? 0) + leaseMs > performance.now())
          renewedAtMs.set(token, requestedAtMs);
    },

    async idle(maxMs) {
      const untilMs = performance.now() + maxMs;
      const enough = new AbortController();
      const timer = wait(maxMs, undefined, { signal: enough.signal }).catch(() => {});
      while (jobs.size > 0 && performance.now() < untilMs) await Promise.race([...jobs, timer]);
      enough.abort();
    },

    async drain(graceMs) {
      isDrainRequested = true;
      const timer = setTimeout(() => abort.abort(), graceMs);
      while (jobs.size > 0) await Promise.race(jobs);
      clearTimeout(timer);
      await routing.close();
    },
  };
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
