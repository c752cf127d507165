import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseAway, isRetryable } from "#db/faults";
import {
  claimWebhooks,
  fixPayloads,
  releaseWebhooks,
  type WebhookClaim,
  webhookLeaseMs,
} from "#db/webhook-queue";
import { recordWebhookResults, type WebhookResult } from "#db/webhook-results";
import type { Deps } from "#server/deps";
import { newId } from "#server/ids";
import { errorFacts } from "#server/log";
import { disableWebhook, failingDaysMax, failuresMin } from "#server/services/webhooks/disable";
import { emailPayload } from "#server/services/webhooks/payload";
import { readPayloadSources } from "#server/services/webhooks/payload-source";
import { coalesce } from "../coalesce";
import { callEndpoint, callMsMax } from "./call";
import { createLaneWidths } from "./widths";

/** Calls at once of this process, apart for endpoints that fare well and for those in a run of failures. */
const HEALTHY_MAX = 64;
const FAILING_MAX = 16;
const recordedAtOnceMax = 200;
const recordAgainAfterMs = 500;

export type Lanes = {
  /** Claims what is due and starts on it. False when there was nothing, or no room. */
  pump(): Promise<boolean>;
  /** Nothing is under way. */
  isIdle(): boolean;
  /** Begins nothing new and lets calls end; after `graceMs` they are broken off and made again by whoever is next. */
  drain(graceMs: number): Promise<void>;
};

export type LanesOptions = {
  /** Told whenever results were written: there is room, and maybe more. */
  onRecorded?: () => void;
  /** Limits a call further, for where a round has an end. */
  callMs?: () => number;
};

/**
 * Claims, calls and records, many endpoints at once. It holds no state that matters: whatever it dies with is found by its
 * leases and called again, with the same id and body.
 */
export function createLanes(deps: Deps, options: LanesOptions = {}): Lanes {
  const { hot, log } = deps;
  const widths = createLaneWidths();
  const jobs = new Set<Promise<void>>();
  const underWay = { healthy: 0, failing: 0 };
  const abort = new AbortController();
  // Every call under way listens to it.
  setMaxListeners(0, abort.signal);
  let isDraining = false;

  const recordBatch = coalesce<WebhookResult, boolean>(recordedAtOnceMax, async (results) => {
    const recorded = await recordUntilWritten(results);
    options.onRecorded?.();
    return ({ id }) => recorded.get(id)?.isFailingForLong ?? false;
  });

  /** Nobody else knows the result, so it outlasts a database that is away for a moment; the lease is the end of it. */
  async function recordUntilWritten(results: WebhookResult[]) {
    const untilMs = performance.now() + webhookLeaseMs;
    for (;;) {
      try {
        const long = { days: failingDaysMax, failures: failuresMin };
        const recorded = await recordWebhookResults(hot, results, long);
        for (const { id } of results)
          if (!recorded.has(id)) log.warn("webhook.lease_lost", { deliveryId: id });
        return recorded;
      } catch (error) {
        const mayPass = isDatabaseAway(error) || isRetryable(error);
        if (abort.signal.aborted || !mayPass || performance.now() > untilMs) throw error;
        log.warn("webhook.record_again", { count: results.length, ...errorFacts(error) });
        await wait(recordAgainAfterMs);
      }
    }
  }

  async function runJob(claim: WebhookClaim, body: string | null): Promise<void> {
    if (body === null) {
      await recordBatch([settledWithoutCall(claim)]);
      log.warn("webhook.mail_gone", { deliveryId: claim.id, webhookId: claim.webhookId });
      return;
    }
    const kind = claim.isFailing ? "failing" : "healthy";
    underWay[kind]++;
    const call = await callEndpoint(deps, claim, body, {
      timeoutMs: Math.min(callMsMax, options.callMs?.() ?? callMsMax),
      signal: abort.signal,
    }).finally(() => {
      // Before the result is written: whoever is roused by that finds room.
      underWay[kind]--;
    });
    if (call === null) return releaseWebhooks(hot, [claim]);
    widths.note(claim.webhookId, call.kind === "taken", call.durationMs);
    const [isFailingForLong] = await recordBatch([call.result]);
    const reason = call.kind === "gone" ? "gone" : isFailingForLong ? "failing" : null;
    if (reason === null) return;
    const { teamId, webhookId, url } = claim;
    if (!(await disableWebhook(deps, { teamId, webhookId, url, reason }))) return;
    log.warn("webhook.disabled", { teamId, webhookId, reason });
    deps.wake();
  }

  function start(claim: WebhookClaim, body: string | null): void {
    const job = runJob(claim, body)
      // The row stays leased: when the lease runs out, it is called again.
      .catch((error) => log.error("webhook.attempt_broken", { deliveryId: claim.id, ...errorFacts(error) }))
      .finally(() => jobs.delete(job));
    jobs.add(job);
  }

  return {
    async pump() {
      const healthy = HEALTHY_MAX - underWay.healthy;
      const failing = FAILING_MAX - underWay.failing;
      if (isDraining || healthy + failing === 0) return false;
      const claims = await claimWebhooks(hot, {
        healthy,
        failing,
        widths: widths.earned,
        leaseToken: newId(),
      });
      if (claims.length === 0) return false;
      const bodies = await settleBodies(hot, claims);
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

/** The body of each claimed event, made and fixed now where it had none; an event whose mail is gone has none. */
async function settleBodies(hot: Deps["hot"], claims: readonly WebhookClaim[]): Promise<Map<string, string>> {
  const bodies = new Map<string, string>();
  const open: (WebhookClaim & { emailId: string; eventId: string })[] = [];
  for (const claim of claims) {
    const { id, payload, emailId, eventId } = claim;
    if (payload !== null) bodies.set(id, payload);
    else if (emailId !== null && eventId !== null) open.push({ ...claim, emailId, eventId });
  }
  const sources = await readPayloadSources(hot, open);
  const fixed = open.flatMap((claim) => {
    const source = sources.get(claim.eventId);
    return source ? [{ ...claim, payload: emailPayload(source) }] : [];
  });
  await fixPayloads(hot, fixed);
  for (const { id, payload } of fixed) bodies.set(id, payload);
  return bodies;
}

const settledWithoutCall = ({ id, leaseToken }: WebhookClaim): WebhookResult => ({
  id,
  leaseToken,
  status: "failed",
  retryAfterMs: null,
  pauseMs: null,
  attempt: null,
});
