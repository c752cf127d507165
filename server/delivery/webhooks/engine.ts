import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseUnreachable, isRetryable } from "#db/faults";
import type { Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { disableWebhook, failingDaysMax, failuresMin } from "#server/services/webhooks/disable";
import { renderPayloads } from "#server/services/webhooks/events/render";
import { coalesce } from "../queue/coalesce";
import { attemptMsMax, attemptWebhook } from "./attempt";
import { createEndpointConcurrency } from "./concurrency";
import { claimWebhooks, releaseWebhooks, storePayloads, type WebhookClaim, webhookLeaseMs } from "./queue";
import { recordWebhookResults, type WebhookResult } from "./record-results";

/** Concurrent attempts of this process, separate for healthy and failing endpoints. */
const HEALTHY_MAX = 64;
const FAILING_MAX = 16;
const recordBatchMax = 200;
const recordRetryMs = 500;

export type WebhookEngine = {
  /** Claims due events and starts their attempts. False if nothing was due or there was no capacity. */
  pump(): Promise<boolean>;
  /** No attempt is in progress. */
  isIdle(): boolean;
  /** Starts no new attempt and waits for those in progress. After `graceMs` aborts and releases them for another worker. */
  drain(graceMs: number): Promise<void>;
};

export type WebhookEngineOptions = {
  /** Called after results are written: there is capacity again, and more events may be due. */
  onRecorded?: () => void;
  /** Additional time limit of an attempt, for a round with a deadline. */
  attemptMs?: () => number;
};

/**
 * Claims events, sends them and records the results, many endpoints in parallel. Its memory holds no durable state: after a
 * crash, events in progress are sent again when their leases expire, with the same id and body.
 */
export function createWebhookEngine(deps: Deps, options: WebhookEngineOptions = {}): WebhookEngine {
  const { hot, log } = deps;
  const concurrency = createEndpointConcurrency();
  const jobs = new Set<Promise<void>>();
  const inProgress = { healthy: 0, failing: 0 };
  const abort = new AbortController();
  // Each attempt in progress adds a listener.
  setMaxListeners(0, abort.signal);
  let isDraining = false;

  const recordBatch = coalesce<WebhookResult, boolean>(recordBatchMax, async (results) => {
    const recorded = await recordUntilWritten(results);
    options.onRecorded?.();
    return ({ id }) => recorded.get(id)?.isFailingForLong ?? false;
  });

  /** A result exists only in this process, so transient database errors are retried until the lease expires. */
  async function recordUntilWritten(results: WebhookResult[]) {
    const untilMs = performance.now() + webhookLeaseMs;
    for (;;) {
      try {
        const long = { days: failingDaysMax, failures: failuresMin };
        const recorded = await recordWebhookResults(hot, results, long, (error) =>
          log.warn("webhook.health_not_recorded", errorFacts(error)),
        );
        for (const { id } of results)
          if (!recorded.has(id)) log.warn("webhook.lease_lost", { deliveryId: id });
        return recorded;
      } catch (error) {
        const isTransient = isDatabaseUnreachable(error) || isRetryable(error);
        if (abort.signal.aborted || !isTransient || performance.now() > untilMs) throw error;
        log.warn("webhook.record_again", { count: results.length, ...errorFacts(error) });
        await wait(recordRetryMs);
      }
    }
  }

  async function runJob(claim: WebhookClaim, body: string | null): Promise<void> {
    if (body === null) {
      await recordBatch([failedWithoutAttempt(claim)]);
      log.warn("webhook.mail_gone", { deliveryId: claim.id, webhookId: claim.webhookId });
      return;
    }
    const kind = claim.isFailing ? "failing" : "healthy";
    inProgress[kind]++;
    const attempt = await attemptWebhook(deps, claim, body, {
      timeoutMs: Math.min(attemptMsMax, options.attemptMs?.() ?? attemptMsMax),
      signal: abort.signal,
    }).finally(() => {
      // Before the result is written, because that wakes the loop, which then needs this capacity.
      inProgress[kind]--;
    });
    if (attempt === null) return releaseWebhooks(hot, [claim]);
    concurrency.record(claim.webhookId, attempt.kind === "succeeded", attempt.durationMs);
    const [isFailingForLong] = await recordBatch([attempt.result]);
    const reason = attempt.kind === "gone" ? "gone" : isFailingForLong ? "failing" : null;
    if (reason === null) return;
    const { teamId, webhookId, url } = claim;
    if (!(await disableWebhook(deps, { teamId, webhookId, url, reason }))) return;
    log.warn("webhook.disabled", { teamId, webhookId, reason });
    deps.wake();
  }

  function start(claim: WebhookClaim, body: string | null): void {
    const job = runJob(claim, body)
      // The row stays leased and is sent again after the lease expires.
      .catch((error) => log.error("webhook.attempt_broken", { deliveryId: claim.id, ...errorFacts(error) }))
      .finally(() => jobs.delete(job));
    jobs.add(job);
  }

  return {
    async pump() {
      const healthy = HEALTHY_MAX - inProgress.healthy;
      const failing = FAILING_MAX - inProgress.failing;
      if (isDraining || healthy + failing === 0) return false;
      const claims = await claimWebhooks(hot, {
        healthy,
        failing,
        widths: concurrency.raised,
        leaseToken: newId(),
      });
      if (claims.length === 0) return false;
      const bodies = await preparePayloads(hot, claims);
      for (const claim of claims) start(claim, bodies.get(claim.id) ?? null);
      return true;
    },

    isIdle: () => jobs.size === 0,

    async drain(graceMs) {
      isDraining = true;
      const timer = setTimeout(() => abort.abort(), graceMs);
      while (jobs.size > 0) await Promise.race(jobs);
      clearTimeout(timer);
    },
  };
}

/** The body of each claimed event, rendered and stored now if it had none. An event whose email was deleted has no body. */
async function preparePayloads(
  hot: Deps["hot"],
  claims: readonly WebhookClaim[],
): Promise<Map<string, string>> {
  const bodies = await renderPayloads(hot, claims);
  await storePayloads(
    hot,
    claims.flatMap((claim) => {
      const payload = claim.payload === null ? bodies.get(claim.id) : undefined;
      return payload === undefined ? [] : [{ ...claim, payload }];
    }),
  );
  return bodies;
}

const failedWithoutAttempt = ({ id, leaseToken }: WebhookClaim): WebhookResult => ({
  id,
  leaseToken,
  status: "failed",
  retryAfterMs: null,
  pauseMs: null,
  attempt: null,
});
