import type { Deps } from "#server/deps";
import { upTo } from "#server/platform/batches";
import { setBounded } from "#server/platform/bounded-map";
import { errorFacts } from "#server/platform/log";
import { disableWebhook } from "#server/services/webhooks/endpoint-state";
import { renderPayloads } from "#server/services/webhooks/events/render";
import { createRunner, type Runner, type RunnerOptions } from "../queue/runner";
import { attemptMsMax, attemptWebhook } from "./attempt";
import {
  claimWebhooks,
  concurrencyStart,
  releaseWebhooks,
  storePayloads,
  type WebhookClaim,
  webhookLeaseMs,
} from "./queue";
import { type RecordedWebhook, recordWebhookResults, type WebhookResult } from "./record-results";
import { makePendingDue } from "./recovery";

/** Concurrent attempts of this process, separate for healthy and failing endpoints. */
const HEALTHY_MAX = 64;
const FAILING_MAX = 16;

export type WebhookEngineOptions = RunnerOptions & {
  /** Additional time limit of an attempt, for a round with a deadline. */
  attemptMs?: () => number;
};

/** An event with its body; null if its email was deleted. */
type WebhookJob = { claims: [WebhookClaim]; body: string | null; traceparent: string | null };

/** Sends the queued events, many endpoints in parallel. A repeated attempt has the same id and body. */
export function createWebhookEngine(deps: Deps, options: WebhookEngineOptions = {}): Runner<WebhookClaim> {
  const { hot, log } = deps;
  const concurrency = createEndpointConcurrency();

  /** How many more attempts may start. */
  function capacityNow() {
    const failing = [...runner.attempting].filter(({ isFailing }) => isFailing).length;
    return { healthy: HEALTHY_MAX - (runner.attempting.size - failing), failing: FAILING_MAX - failing };
  }

  const runner: Runner<WebhookClaim> = createRunner<WebhookClaim, WebhookJob, WebhookResult, RecordedWebhook>(
    {
      name: "webhook",
      leaseMs: webhookLeaseMs,
      batching: { countNext: upTo(200) },
      hasCapacity() {
        const { healthy, failing } = capacityNow();
        return healthy + failing > 0;
      },
      async claim(leaseToken) {
        const claims = await claimWebhooks(hot, leaseToken, capacityNow(), concurrency.raised);
        const bodies = await preparePayloads(hot, claims);
        const parents = deps.tracer ? await readTraceparents(hot, claims) : null;
        const jobs = claims.map(
          (claim): WebhookJob => ({
            claims: [claim],
            body: bodies.get(claim.id) ?? null,
            traceparent: parents?.get(claim.emailId ?? "") ?? null,
          }),
        );
        return { jobs, hasMore: jobs.length > 0 };
      },
      async run({ claims: [claim], body, traceparent }) {
        const { id, leaseToken, webhookId } = claim;
        if (body === null) {
          log.warn("webhook.email_deleted", { deliveryId: id, webhookId });
          return [{ id, leaseToken, status: "failed", retryAfterMs: null, pauseMs: null, attempt: null }];
        }
        const span = deps.tracer?.start("webhook", {
          kind: "client",
          parent: traceparent,
          attributes: { "backstamp.webhook_id": webhookId, "backstamp.event_type": claim.type },
        });
        const attempt = await attemptWebhook(deps, claim, body, {
          timeoutMs: Math.min(attemptMsMax, options.attemptMs?.() ?? attemptMsMax),
          signal: runner.signal,
        });
        span?.set({ "backstamp.result": attempt?.kind ?? "aborted" });
        span?.end();
        if (attempt === null) return [];
        deps.metrics?.recordWebhookAttempt(attempt.kind, attempt.durationMs / 1_000);
        concurrency.record(webhookId, attempt.kind === "succeeded", attempt.durationMs);
        return [attempt.result];
      },
      record: (results) =>
        recordWebhookResults(hot, results, (error) =>
          log.warn("webhook.health_not_recorded", errorFacts(error)),
        ),
      async onWritten({ claims: [{ teamId, webhookId, url }] }, { isGone }, { isFailingForLong, recovery }) {
        if (recovery !== null) {
          await makePendingDue(hot, recovery, () => !runner.isDraining()).catch((error) =>
            log.warn("webhook.recovery_failed", { webhookId, ...errorFacts(error) }),
          );
          deps.wake();
        }
        const reason = isGone ? "gone" : isFailingForLong ? "failing" : null;
        if (reason === null || !(await disableWebhook(deps, { teamId, webhookId, url, reason }))) return;
        log.warn("webhook.disabled", { teamId, webhookId, reason });
        deps.wake();
      },
      release: (claims) => releaseWebhooks(hot, claims),
    },
    log,
    options,
  );
  return runner;
}

/** The `traceparent` of the emails of these events, by email id. */
async function readTraceparents(
  hot: Deps["hot"],
  claims: readonly WebhookClaim[],
): Promise<Map<string, string>> {
  const ofEmails = claims.filter(({ emailId }) => emailId !== null);
  const rows = await hot<{ id: string; traceparent: string }[]>`
    select e.id, e.traceparent
    from unnest(${ofEmails.map(({ teamId }) => teamId)}::uuid[], ${ofEmails.map(({ emailId }) => emailId)}::uuid[])
      as q(team_id, id)
    join emails e on e.team_id = q.team_id and e.id = q.id where e.traceparent is not null`;
  return new Map(rows.map(({ id, traceparent }) => [id, traceparent]));
}

/**
 * The body of each claimed event, rendered and stored now if it had none. An event whose email was deleted
 * has no body.
 */
async function preparePayloads(
  hot: Deps["hot"],
  claims: readonly WebhookClaim[],
): Promise<Map<string, string>> {
  if (claims.length === 0) return new Map();
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

const concurrencyMax = 32;
/** A success within this time raises the concurrency limit. */
const fastMs = 1_000;
const endpointsMax = 500;

/**
 * Adaptive concurrency limit per endpoint, in this process's memory. Each fast success raises it; a failure
 * resets it. Busy endpoints drain quickly, and slow ones never use all of a worker's attempts. A restart
 * starts again from the initial limit.
 */
function createEndpointConcurrency() {
  /** Endpoints with a limit above the initial one. */
  const raised = new Map<string, number>();
  return {
    raised,
    record(webhookId: string, hasSucceeded: boolean, durationMs: number): void {
      if (!hasSucceeded) {
        raised.delete(webhookId);
        return;
      }
      const limit = raised.get(webhookId) ?? concurrencyStart;
      if (durationMs > fastMs || limit >= concurrencyMax) return;
      setBounded(raised, webhookId, limit + 1, endpointsMax);
    },
  };
}
