import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { isTransientFault } from "#db/faults";
import { type Batching, createBatches } from "#server/platform/batches";
import { newId } from "#server/platform/ids";
import { errorFacts, type Log } from "#server/platform/log";

/**
 * A lease counts as lost this share of its duration early, to leave time for the last packet of a dialogue.
 */
const leaseMargin = 1 / 6;
const recordRetryMs = 500;

/** A claimed row: only the holder of its current lease token may write its result. */
export type Lease = { id: string; leaseToken: string };

/** Claims that one attempt covers. */
export type Job<Claim extends Lease> = { claims: Claim[] };

/**
 * A queue whose rows are leased: claimed, attempted, recorded, or released. `Written` is what the database
 * returns about a recorded result.
 */
export type LeasedQueue<Claim extends Lease, J extends Job<Claim>, Result extends Lease, Written> = {
  /** Prefix of the log events. */
  name: "delivery" | "webhook" | "system_mail" | "return_copy";
  leaseMs: number;
  hasCapacity(): boolean;
  /** Claims due rows with this lease token. `hasMore`: more may be due. Throws before any attempt starts. */
  claim(leaseToken: string): Promise<{ jobs: J[]; hasMore: boolean }>;
  /** Makes the attempt. If it throws, the rows stay leased and are recovered when the lease expires. */
  run(job: J): Promise<Result[]>;
  /** Writes results, each only if its lease token is current. Returns what was written, by id. */
  record(results: Result[]): Promise<ReadonlyMap<string, Written>>;
  /** Maximum results that `record` writes at once, and how long they wait for each other. */
  batching: Pick<Batching<Result>, "countNext" | "itemsMin" | "gatherMsMax">;
  /** Follow-up of a written result. */
  onWritten?(job: J, result: Result, written: Written): Promise<void> | void;
  /** Returns claims without a result to the queue, and does not count the attempt. */
  release?(claims: Claim[], job: J): Promise<unknown>;
  renew?(leaseTokens: string[]): Promise<unknown>;
  close?(): Promise<void>;
};

export type RunnerOptions = {
  /** After an abort no new attempt starts, even before `drain` is called. */
  signal?: AbortSignal;
  /** Called when there is capacity again after a pump that had none. */
  onCapacity?(): void;
  /** Called after results are written. */
  onRecorded?(): void;
};

export type Runner<Claim extends Lease> = {
  /**
   * Claims due rows and starts their attempts. True if more may be due; false without due rows or capacity.
   */
  pump(): Promise<boolean>;
  /** Renews the leases of all claims. */
  renew(): Promise<void>;
  /** Resolves when no attempt is in progress, or after `maxMs`. */
  idle(maxMs: number): Promise<void>;
  isIdle(): boolean;
  /**
   * Starts no new attempt and waits for those in progress. Aborts them after `graceMs`; what has no result is
   * released.
   */
  drain(graceMs: number): Promise<void>;
  isDraining(): boolean;
  /** Aborted when attempts in progress must end. */
  signal: AbortSignal;
  ownsLease(claim: Claim): boolean;
  /** Claims of this process, and those of them whose attempt is in progress. */
  claimCount(): number;
  attempting: ReadonlySet<Claim>;
  /** Forgets claims that `run` has returned to the queue itself. */
  forget(claims: readonly Claim[]): void;
};

/**
 * Runs the attempts of a queue, many in parallel. The memory of the process holds no durable state: if it
 * dies, its claims are recovered when their leases expire. Each row is claimed, attempted and recorded in
 * this order; each step commits before the next one.
 */
export function createRunner<Claim extends Lease, J extends Job<Claim>, Result extends Lease, Written>(
  queue: LeasedQueue<Claim, J, Result, Written>,
  log: Log,
  options: RunnerOptions,
): Runner<Claim> {
  const { name, leaseMs } = queue;
  /** Claims, and when their lease was last granted or renewed, on this process's monotonic clock. */
  const leases = new Map<Claim, number>();
  const attempting = new Set<Claim>();
  const jobs = new Set<Promise<void>>();
  const abort = new AbortController();
  // Each attempt in progress adds a listener.
  setMaxListeners(0, abort.signal);
  let isDrainRequested = false;
  const isDraining = () => isDrainRequested || options.signal?.aborted === true;
  let isFull = false;

  /**
   * A result exists only in this process, so transient database errors are retried. If a batch fails
   * permanently, its results are written one by one. A result that fails alone stays leased.
   */
  async function recordUntilWritten(results: Result[]): Promise<ReadonlyMap<string, Written>> {
    for (;;) {
      try {
        const written = await queue.record(results);
        // The lease expired and another worker owns the row. Its result counts; ours is dropped.
        for (const { id, leaseToken } of results)
          if (!written.has(id)) log.warn(`${name}.lease_lost`, { id, leaseToken });
        return written;
      } catch (error) {
        const isTransient = isTransientFault(error);
        if (!isTransient && results.length > 1) {
          const written = new Map<string, Written>();
          for (const result of results)
            for (const [id, row] of await recordUntilWritten([result])) written.set(id, row);
          return written;
        }
        if (!isTransient || abort.signal.aborted) {
          for (const { id } of results) log.error(`${name}.not_recorded`, { id, ...errorFacts(error) });
          return new Map();
        }
        log.warn(`${name}.record_again`, { count: results.length, ...errorFacts(error) });
        await wait(recordRetryMs);
      }
    }
  }

  const record = createBatches<Result, Written | undefined>(async (results) => {
    const written = await recordUntilWritten(results);
    options.onRecorded?.();
    return ({ id }) => written.get(id);
  }, queue.batching);

  async function runAttempt(job: J): Promise<Result[]> {
    for (const claim of job.claims) attempting.add(claim);
    try {
      return await queue.run(job);
    } finally {
      for (const claim of job.claims) attempting.delete(claim);
      if (isFull && queue.hasCapacity()) {
        isFull = false;
        options.onCapacity?.();
      }
    }
  }

  async function runJob(job: J): Promise<void> {
    try {
      const results = await runAttempt(job);
      const written = results.length > 0 ? await record(results) : [];
      const settled = new Set(results.map(({ id }) => id));
      const unsettled = job.claims.filter((claim) => leases.has(claim) && !settled.has(claim.id));
      if (unsettled.length > 0) await queue.release?.(unsettled, job);
      for (const [index, result] of results.entries()) {
        const row = written[index];
        if (row !== undefined) await queue.onWritten?.(job, result, row);
      }
    } catch (error) {
      log.error(`${name}.attempt_broken`, { ids: job.claims.map(({ id }) => id), ...errorFacts(error) });
    } finally {
      for (const claim of job.claims) leases.delete(claim);
    }
  }

  return {
    async pump() {
      isFull = !queue.hasCapacity();
      if (isDraining() || isFull) return false;
      const grantedAtMs = performance.now();
      const claimed = await queue.claim(newId());
      for (const job of claimed.jobs) {
        for (const claim of job.claims) leases.set(claim, grantedAtMs);
        const running = runJob(job).finally(() => jobs.delete(running));
        jobs.add(running);
      }
      isFull = !queue.hasCapacity();
      return claimed.hasMore;
    },

    async renew() {
      const tokens = new Set([...leases.keys()].map(({ leaseToken }) => leaseToken));
      if (tokens.size === 0 || !queue.renew) return;
      const renewedAtMs = performance.now();
      await queue.renew([...tokens]);
      // An expired lease stays lost, even if this process was only late.
      for (const [claim, grantedAtMs] of leases)
        if (tokens.has(claim.leaseToken) && grantedAtMs + leaseMs > performance.now())
          leases.set(claim, renewedAtMs);
    },

    async idle(maxMs) {
      const untilMs = performance.now() + maxMs;
      const enough = new AbortController();
      const timeout = wait(maxMs, undefined, { signal: enough.signal }).catch(() => {});
      while (jobs.size > 0 && performance.now() < untilMs) await Promise.race([...jobs, timeout]);
      enough.abort();
    },

    isIdle: () => jobs.size === 0,

    async drain(graceMs) {
      isDrainRequested = true;
      const timer = setTimeout(() => abort.abort(), graceMs);
      while (jobs.size > 0) await Promise.race(jobs);
      clearTimeout(timer);
      await queue.close?.();
    },

    isDraining,
    signal: abort.signal,
    ownsLease: (claim) =>
      performance.now() < (leases.get(claim) ?? Number.NEGATIVE_INFINITY) + leaseMs * (1 - leaseMargin),
    claimCount: () => leases.size,
    attempting,
    forget(claims) {
      for (const claim of claims) leases.delete(claim);
    },
  };
}
