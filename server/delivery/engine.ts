import { performance } from "node:perf_hooks";
import { TICK_WORKER_ID } from "#db/schema/deliveries";
import type { WorkerDeps } from "#server/deps";
import { upTo } from "#server/platform/batches";
import { errorFacts } from "#server/platform/log";
import { getReplyRules } from "#server/services/destinations/reply-rules";
import { type AttemptParts, attemptEmail, type EmailJob } from "./attempt/attempt-email";
import { createLongTexts } from "./attempt/long-texts";
import { createSigningKeys } from "./attempt/signing-keys";
import { listStoredMessages } from "./attempt/stored-messages";
import {
  type Claim,
  claimDeliveries,
  claimSuspects,
  leaseMs as defaultLeaseMs,
  hasMoreDue,
  releaseClaims,
  renewLeases,
} from "./queue/claims";
import { type DeliveryResult, recordResults, type Written } from "./queue/record-results";
import { createRequeue } from "./queue/requeue";
import { createRunner, type Runner, type RunnerOptions } from "./queue/runner";
import { createRouting, type Route, type Routing } from "./routing/routes";
import { createThrottle } from "./throttle/admit";

/**
 * Maximum claimed deliveries with an attempt in progress. More would wait here while another worker could
 * send them.
 */
const claimsMax = 300;
const claimBatchMax = 150;
/** With less capacity than this, a claim is not worth a statement. */
const claimCapacityMin = 100;
/**
 * A full worker claims this often for the teams that have nothing here, sooner when it is notified, and up to
 * this many more deliveries: the backlog of one team delays no email of another.
 */
const newcomers = { everyMs: 50, notifiedEveryMs: 10, claimMax: 20, claimsMax: 100 };
/**
 * Results can wait for a batch. The wait is short because a crash before the write makes their outcomes
 * unknown.
 */
const recordBatching = { countNext: upTo(500), itemsMin: 60, gatherMsMax: 15 };
/** Poll interval for suspects after a claim found none. */
const suspectsPollMs = 1_000;
/**
 * Wait of claims whose emails could not be read, for example because the database is not migrated to this
 * build.
 */
const unreadWaitMs = 10_000;

export type EngineOptions = RunnerOptions & {
  /** Concurrent SMTP dialogues. */
  dialoguesMax: number;
  /** Id of the worker's heartbeat. Default: `TICK_WORKER_ID`, the scheduled round. */
  workerId?: string;
  /** Duration of a lease unless renewed. */
  leaseMs?: number;
  /** Shared with other runners and closed by their owner. Default: one of its own. */
  routing?: Routing;
};

/** `expectNewcomers`: another process has accepted an email, so the next pump claims also when full. */
export type Engine = Runner<Claim> & { expectNewcomers(): void };

/**
 * Sends the queued emails, many in parallel. The steps of a delivery: claim (`queue/claims.ts`), route
 * (`routing/routes.ts`), attempt (`attempt/attempt-email.ts`), which the throttle admits
 * (`throttle/admit.ts`), and record (`queue/record-results.ts`).
 */
export function createEngine(deps: WorkerDeps, options: EngineOptions): Engine {
  const { hot, log, metrics } = deps;
  const { leaseMs = defaultLeaseMs, workerId = TICK_WORKER_ID, dialoguesMax } = options;
  const routing = options.routing ?? createRouting(deps);
  const throttle = createThrottle(deps, { dialoguesMax, workerId, onReleased: options.onCapacity });
  const longTexts = createLongTexts(deps, () => options.onCapacity?.());

  /**
   * What the attempts of these claims need. If it cannot be read, the claims are released: no attempt was
   * made.
   */
  const readForAttempts = (claims: Claim[]) =>
    Promise.all([
      listStoredMessages(hot, claims),
      routing.read(claims.map(({ teamId }) => teamId)),
      getReplyRules(hot),
    ]).catch((error) => releaseUnread(claims, error));

  /** An expired lease would count as a crash of the worker, and ten of them fail a delivery. */
  async function releaseUnread(claims: Claim[], error: unknown): Promise<never> {
    await releaseClaims(
      hot,
      released(claims).map((claim) => ({ ...claim, waitMs: unreadWaitMs })),
    ).catch((unreleased) => log.warn("delivery.not_released", errorFacts(unreleased)));
    throw error;
  }

  /** Reads the emails of these claims and groups the claims by attempt. */
  async function planJobs(
    claims: Claim[],
    isSuspect: boolean,
  ): Promise<{ jobs: EmailJob[]; surplus: Claim[] }> {
    const jobs: EmailJob[] = [];
    const surplus: Claim[] = [];
    if (claims.length === 0) return { jobs, surplus };
    const [messages, routeOf, replyRules] = await readForAttempts(claims);
    for (const [emailId, ofEmail] of groupBy(claims, (claim) => claim.emailId)) {
      const email = messages.get(emailId);
      if (!email) continue;
      if (!isSuspect && !longTexts.hasCapacity(email)) {
        surplus.push(...ofEmail);
        continue;
      }
      const route = routeOf(email);
      for (const group of groupByDialogue(ofEmail, route))
        jobs.push({ claims: group, email, route, text: longTexts.reserve(email, group.length), replyRules });
    }
    return { jobs, surplus };
  }

  /**
   * The jobs of the suspect email in progress. Without one, the next suspect may be claimed after this time.
   */
  const suspects = new Set<EmailJob>();
  let suspectsDueAtMs = 0;
  async function planSuspect(leaseToken: string): Promise<EmailJob[]> {
    if (suspects.size > 0 || performance.now() < suspectsDueAtMs) return [];
    suspectsDueAtMs = performance.now() + suspectsPollMs;
    const claims = await claimSuspects(hot, { limit: claimBatchMax, leaseToken, forMs: leaseMs });
    const { jobs } = await planJobs(claims, true);
    for (const job of jobs) suspects.add(job);
    return jobs;
  }
  function endSuspect(job: EmailJob): void {
    if (!suspects.delete(job) || suspects.size > 0) return;
    suspectsDueAtMs = 0;
    options.onCapacity?.();
  }

  /**
   * Attempts that only wait for their result to be recorded use little capacity, but they have a limit too.
   */
  const capacityNow = () =>
    Math.min(claimBatchMax, claimsMax - runner.attempting.size, 2 * claimsMax - runner.claimCount());
  const isFull = () => capacityNow() < claimCapacityMin;
  let claimedAtMs = Number.NEGATIVE_INFINITY;
  let newcomersEveryMs: number = newcomers.everyMs;
  const mayClaimNewcomers = () =>
    performance.now() >= claimedAtMs + newcomersEveryMs &&
    runner.attempting.size < claimsMax + newcomers.claimsMax;

  const runner: Runner<Claim> = createRunner<Claim, EmailJob, DeliveryResult, Written>(
    {
      name: "delivery",
      leaseMs,
      batching: recordBatching,
      hasCapacity: () => !isFull() || mayClaimNewcomers(),

      async claim(leaseToken) {
        const maxByTeam = longTexts.capacityByTeam();
        const wasFull = isFull();
        const limit = wasFull ? newcomers.claimMax : capacityNow();
        if (wasFull) for (const { teamId } of runner.attempting) maxByTeam.set(teamId, 0);
        claimedAtMs = performance.now();
        newcomersEveryMs = newcomers.everyMs;
        const claims = await claimDeliveries(hot, {
          limit,
          leaseToken,
          forMs: leaseMs,
          maxByTeam,
        });
        const { jobs, surplus } = await planJobs(claims, false);
        if (surplus.length > 0) await releaseClaims(hot, released(surplus));
        const ofSuspect = await planSuspect(leaseToken).catch((error) => {
          for (const { text } of jobs) text.release();
          const planned = jobs.flatMap((job) => job.claims);
          return releaseUnread(planned, error);
        });
        // Attempts that ended during a claim for newcomers made space for all.
        const hasMore = hasMoreDue(claims) || surplus.length + ofSuspect.length > 0 || (wasFull && !isFull());
        return { jobs: [...jobs, ...ofSuspect], hasMore };
      },

      async run(job) {
        try {
          const results = await attemptEmail(parts, job);
          return results.map((result) => ({ ...result, isAlone: job.email.isAlone }));
        } finally {
          job.text.release();
          endSuspect(job);
        }
      },

      record: (results) => recordResults(hot, results),
      ...(metrics && {
        onWritten: (_: EmailJob, { status }: DeliveryResult) => metrics.recordDelivery(status),
      }),
      release: (claims) => releaseClaims(hot, released(claims)),
      renew: (leaseTokens) => renewLeases(hot, leaseTokens, leaseMs),
      async close() {
        await throttle.close();
        if (!options.routing) await routing.close();
      },
    },
    log,
    options,
  );
  const parts: AttemptParts = {
    deps,
    lease: runner,
    throttle,
    requeue: createRequeue(deps, runner.forget),
    findKeys: createSigningKeys(deps),
  };
  return {
    ...runner,
    expectNewcomers() {
      newcomersEveryMs = newcomers.notifiedEveryMs;
    },
  };
}

const released = (claims: Claim[]) => claims.map((claim) => ({ ...claim, rule: "released" as const }));

/**
 * Groups the claims of one email by attempt: one group for a relay, one per destination for direct delivery.
 * A slow destination then does not delay the results of another.
 */
const groupByDialogue = (claims: Claim[], route: Route | null): Claim[][] =>
  route?.isByDestination ? [...groupBy(claims, ({ domain }) => domain).values()] : [claims];

function groupBy(claims: readonly Claim[], keyOf: (claim: Claim) => string): Map<string, Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const key = keyOf(claim);
    groups.set(key, [...(groups.get(key) ?? []), claim]);
  }
  return groups;
}
