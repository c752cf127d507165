import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseAway, isLockTimeout, isRetryable, isStatementTimeout } from "#db/faults";
import {
  type Claim,
  claimDeliveries,
  claimSuspectMail,
  type Held,
  markHandedOver,
  mayLeaveMore,
  releaseClaims,
  renewLeases,
  leaseMs as usualLeaseMs,
} from "#db/queue";
import { type DeliveryResult, recordResults } from "#db/results";
import type { CapRule } from "#db/schema/deliveries";
import { TICK_WORKER_ID } from "#db/schema/workers";
import { setAside } from "#db/set-aside";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/ids";
import { errorFacts } from "#server/log";
import { createHandOverWithinCaps, moveAtOnce } from "./caps";
import { createHeedCeilings } from "./ceilings";
import { createClearTheWay } from "./clear-the-way";
import { coalesce } from "./coalesce";
import { attemptEmail, type Handling } from "./deliver-email";
import { readMessages, type StoredMessage } from "./messages";
import { createPaces } from "./paces";
import { createAtPace } from "./pacing";
import { createSigningKeys } from "./signing-keys";
import { createTurns } from "./turns";
import { createWays, type Way } from "./ways";

/** Claimed rows at most whose attempt is not over; more would only lie here while another worker could have them. */
const claimsMax = 300;
const claimBatchMax = 150;
/** Less room than this is not worth a statement. */
const claimRoomMin = 100;
/** A lease counts as lost this share of it before the database says so, for the time that a last packet may take. */
const leaseMargin = 1 / 6;
const recordAgainAfterMs = 500;
/** What is prepared ahead bridges a hand-over that waits for company. */
const handOverGathering = { worth: 20, maxMs: 4 };
/** A result has nobody waiting for it; but the longer it waits, the more are unknown when the worker dies. */
const recordGathering = { worth: 60, maxMs: 15 };
/** Of all dialogues at once, those with one destination at most. */
const placesFor = (dialoguesMax: number): number => Math.max(1, Math.floor(dialoguesMax / 2));
/** Slow dialogues beside the others, for each of those. */
const slowAside = 4;
/** How often suspects are looked for where there were none. */
const suspectsEveryMs = 1_000;

export type EngineOptions = {
  /** SMTP dialogues at once. */
  dialoguesMax: number;
  /** Under which it beats. Default: as a scheduled round. */
  workerId?: string;
  /** How long a claim lasts unless renewed. */
  leaseMs?: number;
  /** Nothing is begun once it is aborted, whatever else has to end before `drain` is called. */
  signal?: AbortSignal;
  /** Called when a pump that found nothing, or no room, would find some now. */
  onRoom?: () => void;
  /** Called when results were written: their events may be somebody's webhooks. */
  onRecorded?: () => void;
};

export type Engine = {
  /** Claims what is due and starts on it. False when there was nothing, or no room. */
  pump(): Promise<boolean>;
  /** Prolongs everything held. */
  renew(): Promise<void>;
  /** Settles when nothing is under way, or after `maxMs`. */
  idle(maxMs: number): Promise<void>;
  /** Begins nothing new, lets dialogues end, gives back the rest. After `graceMs` dialogues are broken off. */
  drain(graceMs: number): Promise<void>;
};

/**
 * Claims, attempts and records, with many mails under way at once. It holds no state that matters: whatever it dies with
 * is found by its leases. The order for each row is claimed, handed over, result; each is committed before the next.
 */
export function createEngine(deps: WorkerDeps, options: EngineOptions): Engine {
  const { hot, log } = deps;
  const { leaseMs = usualLeaseMs } = options;
  const held = new Map<string, Claim>();
  /** When the lease of each token was last known to be ours, on this process's monotonic clock. */
  const renewedAtMs = new Map<string, number>();
  const jobs = new Set<Promise<void>>();
  const abort = new AbortController();
  // Every mail under way listens to it.
  setMaxListeners(0, abort.signal);
  let isToldToDrain = false;
  const isDraining = () => isToldToDrain || options.signal?.aborted === true;
  let isFull = false;
  /** Claimed rows whose attempt is not over. */
  let attempting = 0;

  const stillMine = ({ leaseToken }: Claim) =>
    performance.now() <
    (renewedAtMs.get(leaseToken) ?? Number.NEGATIVE_INFINITY) + leaseMs * (1 - leaseMargin);

  const markBatch = coalesce<Claim & { offersUnsubscribe: boolean }, boolean>(
    500,
    async (claims) => {
      const marked = await markHandedOver(hot, claims);
      return ({ id }) => marked.has(id);
    },
    handOverGathering,
  );
  const recordBatch = (areAlone: boolean) =>
    coalesce<DeliveryResult, void>(
      500,
      async (results) => {
        await recordUntilWritten(results, areAlone);
        options.onRecorded?.();
        return () => undefined;
      },
      recordGathering,
    );
  const recordAlone = recordBatch(true);
  const recordTogether = recordBatch(false);

  /**
   * A result must not be lost to a database that is away or busy for a moment, nor to one beside it that cannot be
   * written: nobody else knows it. What cannot be written even by itself stays leased, and is unknown in the end.
   */
  async function recordUntilWritten(results: DeliveryResult[], areAlone: boolean): Promise<void> {
    for (;;) {
      try {
        const written = await recordResults(hot, results, { areAlone });
        for (const { id, leaseToken } of results) {
          // Another worker owns this row by now. Its record is the true one; ours is dropped.
          if (!written.has(id)) log.warn("delivery.lease_lost", { deliveryId: id, leaseToken });
        }
        return;
      } catch (error) {
        const mayPass =
          isDatabaseAway(error) || isRetryable(error) || isLockTimeout(error) || isStatementTimeout(error);
        if (!mayPass && results.length > 1) {
          for (const result of results) await recordUntilWritten([result], areAlone);
          return;
        }
        if (!mayPass || abort.signal.aborted) {
          for (const { id } of results)
            log.error("delivery.not_recorded", { deliveryId: id, ...errorFacts(error) });
          return;
        }
        log.warn("delivery.record_again", { count: results.length, ...errorFacts(error) });
        await wait(recordAgainAfterMs);
      }
    }
  }

  const ways = createWays(deps);
  type Wait = { rule: "destination_pace" | "relay_paused" | CapRule; waitMs: number };
  /** Claims that wait in the queue again. */
  const givenBack = new WeakSet<Claim>();
  const giveBackBatch = coalesce<Held & Wait, void>(500, async (claims) => {
    for (const why of new Set(claims.map(({ rule }) => rule)))
      await releaseClaims(
        hot,
        claims.filter(({ rule }) => rule === why),
        why,
      );
    return () => undefined;
  });
  const giveBack = async (claims: readonly Claim[], why: (claim: Claim) => Wait) => {
    await giveBackBatch(
      claims.map((claim) => ({ id: claim.id, leaseToken: claim.leaseToken, ...why(claim) })),
    );
    for (const claim of claims) givenBack.add(claim);
  };
  const clearTheWay = createClearTheWay(log);
  const paces = createPaces({
    placesMax: placesFor(options.dialoguesMax),
    nowMs: () => performance.now(),
  });
  const heedCeilings = createHeedCeilings(deps, paces, options.workerId ?? TICK_WORKER_ID);
  const atPace = createAtPace(
    paces,
    (claims, waitMs) => giveBack(claims, () => ({ rule: "destination_pace", waitMs })),
    (queue, count) =>
      clearTheWay(`pace ${queue.teamId} ${queue.destination}`, count, () =>
        paces.lineUp(queue.destination, (line) => setAside(hot, queue, line, moveAtOnce)),
      ),
  );
  const handOverWithinCaps = createHandOverWithinCaps(deps, giveBack, clearTheWay);

  const handling: Handling = {
    atPace,
    waitForRelay: (claims, waitMs) => giveBack(claims, () => ({ rule: "relay_paused", waitMs })),
    keysFor: createSigningKeys(deps),
    inTurn: createTurns(options.dialoguesMax, options.dialoguesMax * slowAside),
    mayBegin: (claims) => !isDraining() && claims.every(stillMine),
    stillMine,
    signal: abort.signal,
    async handOver(claims, stored) {
      const mine = isDraining() ? [] : claims.filter(stillMine);
      if (mine.length === 0) return [];
      if (stored.isCapped) return handOverWithinCaps(mine, stored);
      const offersUnsubscribe = stored.listUnsubscribe;
      const marked = await markBatch(mine.map((claim) => ({ ...claim, offersUnsubscribe })));
      return mine.filter((_, index) => marked[index]);
    },
  };

  async function runJob(stored: StoredMessage, claims: Claim[], way: Way | null): Promise<void> {
    let underWay = claims.length;
    attempting += underWay;
    const endAttempt = () => {
      attempting -= underWay;
      underWay = 0;
      if (!isFull || roomNow() < claimRoomMin) return;
      isFull = false;
      options.onRoom?.();
    };
    try {
      const results = await attemptEmail(deps, stored, claims, way, handling);
      endAttempt();
      if (results.length > 0) await (stored.isAlone ? recordAlone : recordTogether)(results);
      const settled = new Set(results.map(({ id }) => id));
      const left = claims.filter((claim) => !settled.has(claim.id) && !givenBack.has(claim));
      if (left.length > 0) await releaseClaims(hot, left, isDraining() || way ? "released" : "no_transport");
    } catch (error) {
      // The rows stay leased: when the leases run out, their stage says what may be done with them.
      log.error("delivery.attempt_broken", { emailId: stored.id, ...errorFacts(error) });
    } finally {
      for (const { id } of claims) held.delete(id);
      endAttempt();
    }
  }

  /** What only waits to be recorded takes little room, but not none. */
  const roomNow = () => Math.min(claimBatchMax, claimsMax - attempting, 2 * claimsMax - held.size);

  /** Claims and starts on what was claimed. Tells how many rows those were, whether more may be due, and when all of them are done. */
  async function begin(
    claim: typeof claimSuspectMail,
    limit: number,
  ): Promise<{ count: number; mayBeMore: boolean; done: Promise<unknown> }> {
    const leaseToken = newId();
    const askedAtMs = performance.now();
    const claims = await claim(hot, { limit, leaseToken, forMs: leaseMs });
    if (claims.length === 0) return { count: 0, mayBeMore: false, done: Promise.resolve() };
    renewedAtMs.set(leaseToken, askedAtMs);
    for (const taken of claims) held.set(taken.id, taken);
    // Rows whose mail cannot be read now are simply not begun: their leases run out and they come back.
    const [messages, wayOf] = await Promise.all([
      readMessages(hot, claims),
      ways.read(claims.map(({ teamId }) => teamId)),
      heedCeilings(claims),
    ]).catch((error) => {
      for (const { id } of claims) held.delete(id);
      throw error;
    });
    const begun: Promise<void>[] = [];
    for (const [emailId, ofMail] of groupBy(claims, (claim) => claim.emailId)) {
      const stored = messages.get(emailId);
      if (!stored) {
        for (const { id } of ofMail) held.delete(id);
        continue;
      }
      const way = wayOf(stored);
      for (const group of groupByDialogue(ofMail, way)) {
        const job = runJob(stored, group, way).finally(() => jobs.delete(job));
        jobs.add(job);
        begun.push(job);
      }
    }
    return { count: claims.length, mayBeMore: mayLeaveMore(claims), done: Promise.all(begun) };
  }

  /** On the monotonic clock; infinite while one is under way. */
  let suspectsDueAtMs = 0;
  async function pumpSuspects(): Promise<boolean> {
    if (performance.now() < suspectsDueAtMs) return false;
    suspectsDueAtMs = performance.now() + suspectsEveryMs;
    const { count, done } = await begin(claimSuspectMail, claimBatchMax);
    if (count === 0) return false;
    suspectsDueAtMs = Number.POSITIVE_INFINITY;
    void done.then(() => {
      suspectsDueAtMs = 0;
      options.onRoom?.();
    });
    return true;
  }

  return {
    async pump() {
      const room = roomNow();
      isFull = room < claimRoomMin;
      if (isDraining() || isFull) return false;
      const { mayBeMore } = await begin(claimDeliveries, room);
      const areSuspects = await pumpSuspects();
      return mayBeMore || areSuspects;
    },

    async renew() {
      const tokens = [...new Set([...held.values()].map(({ leaseToken }) => leaseToken))];
      for (const token of renewedAtMs.keys()) if (!tokens.includes(token)) renewedAtMs.delete(token);
      if (tokens.length === 0) return;
      const askedAtMs = performance.now();
      await renewLeases(hot, tokens, leaseMs);
      // A lease that had run out stays lost, so what was late before is not ours again.
      for (const token of tokens)
        if ((renewedAtMs.get(token) ?? 0) + leaseMs > performance.now()) renewedAtMs.set(token, askedAtMs);
    },

    async idle(maxMs) {
      const untilMs = performance.now() + maxMs;
      const enough = new AbortController();
      const timer = wait(maxMs, undefined, { signal: enough.signal }).catch(() => {});
      while (jobs.size > 0 && performance.now() < untilMs) await Promise.race([...jobs, timer]);
      enough.abort();
    },

    async drain(graceMs) {
      isToldToDrain = true;
      const timer = setTimeout(() => abort.abort(), graceMs);
      while (jobs.size > 0) await Promise.race(jobs);
      clearTimeout(timer);
      await ways.close();
    },
  };
}

/**
 * Claims of one mail that one attempt is made for: all of them, and where mail goes straight to the recipients' servers
 * those of one destination, so that a slow server keeps no result of another one from being recorded.
 */
const groupByDialogue = (claims: Claim[], way: Way | null): Claim[][] =>
  way?.isByDestination ? [...groupBy(claims, ({ domain }) => domain).values()] : [claims];

function groupBy(claims: readonly Claim[], keyOf: (claim: Claim) => string): Map<string, Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const group = groups.get(keyOf(claim));
    if (group) group.push(claim);
    else groups.set(keyOf(claim), [claim]);
  }
  return groups;
}
