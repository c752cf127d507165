import { performance } from "node:perf_hooks";
import type { Deps } from "#server/deps";
import type { OutsideResponse } from "#server/platform/egress/call";
import { newId } from "#server/platform/ids";
import { WEBHOOK_RETRY_AFTER_SECONDS } from "#server/services/webhooks/schedule";
import { openSigningSecret, signatureHeaders } from "#server/services/webhooks/signing";
import { hourMs } from "#server/shared/durations";
import type { WebhookClaim } from "./queue";
import type { WebhookResult } from "./record-results";

/** Maximum duration of an attempt: DNS lookup, connection, response and body together. */
export const attemptMsMax = 15_000;
const responseBytesMax = 16 * 1024;

export type Attempt = { result: WebhookResult; kind: Classification["kind"]; durationMs: number };

/**
 * Sends an event to its endpoint and converts the response into the result to record. Returns null if
 * `signal` aborted the request, because the outcome is unknown. `services/webhooks/schedule.ts` lists all
 * rules for an endpoint that fails.
 */
export async function attemptWebhook(
  deps: Pick<Deps, "outside" | "vault" | "clock">,
  claim: WebhookClaim,
  body: string,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<Attempt | null> {
  const headers = headersOf(deps, claim, body);
  const startedMs = performance.now();
  const httpResponse = await deps.outside.fetch(claim.url, {
    method: "POST",
    headers,
    body,
    timeoutMs: options.timeoutMs,
    responseBytesMax,
    signal: options.signal,
  });
  if (options.signal.aborted) return null;
  const durationMs = Math.round(performance.now() - startedMs);
  const { kind, pauseMs } = classifyResponse(httpResponse, deps.clock());
  const waitMs = kind === "failed" ? webhookRetryAfterMs(claim.attempt, Math.random()) : null;
  const status = kind === "succeeded" ? "success" : waitMs === null ? "failed" : "pending";
  return {
    kind,
    durationMs,
    result: {
      id: claim.id,
      leaseToken: claim.leaseToken,
      status,
      retryAfterMs: waitMs === null ? null : Math.max(waitMs, pauseMs ?? 0),
      pauseMs,
      isGone: kind === "gone",
      attempt: { id: newId(), url: claim.url, headers, durationMs, ...responseFacts(httpResponse) },
    },
  };
}

function headersOf(
  { vault, clock }: Pick<Deps, "vault" | "clock">,
  claim: WebhookClaim,
  body: string,
): Record<string, string> {
  const row = { id: claim.webhookId, teamId: claim.teamId };
  const secrets = [openSigningSecret(vault, row, "secret", claim.secret)];
  if (claim.previousSecret !== null)
    secrets.push(openSigningSecret(vault, row, "previous_secret", claim.previousSecret));
  return {
    "content-type": "application/json",
    "user-agent": "Backstamp-Webhooks/1.0",
    ...signatureHeaders({
      id: claim.id,
      timestampSeconds: Math.floor(clock().getTime() / 1_000),
      body,
      secrets,
    }),
  };
}

function responseFacts(httpResponse: OutsideResponse) {
  if (httpResponse.kind === "fault") return { statusCode: null, response: null, fault: httpResponse.fault };
  const encoding = httpResponse.headers["content-encoding"];
  const response =
    encoding === undefined || encoding === "identity"
      ? // Invalid UTF-8, and NUL, which PostgreSQL cannot store, become the replacement character.
        new TextDecoder().decode(httpResponse.body).replaceAll("\0", "\ufffd")
      : `(${httpResponse.body.length} bytes, encoded as ${encoding.slice(0, 40)})`;
  return { statusCode: httpResponse.status, response, fault: null };
}

/** Class of a response: succeeded, endpoint gone, or failed with a later retry. */
type Classification = {
  kind: "succeeded" | "gone" | "failed";
  /** Pause for all events of the endpoint; null without one. */
  pauseMs: number | null;
};

const GONE = 410;
/** Statuses of an overloaded endpoint, which is paused (Standard Webhooks). */
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 504]);
const pauseMs = 30_000;
/** Upper bound of a pause, because a wrong Retry-After must not stop an endpoint for days. */
const pauseMsMax = 12 * hourMs;

/** Classifies a response. Any 2xx is a success. Redirects are not followed and count as failures. */
export function classifyResponse(response: OutsideResponse, now: Date): Classification {
  if (response.kind === "fault") return { kind: "failed", pauseMs: null };
  const { status, headers } = response;
  if (status >= 200 && status < 300) return { kind: "succeeded", pauseMs: null };
  if (status === GONE) return { kind: "gone", pauseMs: null };
  const requestedPauseMs = parseRetryAfter(headers["retry-after"], now);
  return { kind: "failed", pauseMs: requestedPauseMs ?? (OVERLOADED.has(status) ? pauseMs : null) };
}

/**
 * Parses Retry-After in seconds or as a date (RFC 9110 section 10.2.3) to milliseconds from now; null if
 * invalid.
 */
function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now.getTime();
  return ms > 0 ? Math.min(ms, pauseMsMax) : null;
}

/** Relative jitter of a wait. It spreads the retries of events that failed at the same time. */
const jitter = 0.2;

/** Milliseconds to wait after the nth attempt, or null after the last one. `random` is in [0, 1). */
export function webhookRetryAfterMs(attempt: number, random: number): number | null {
  const seconds = WEBHOOK_RETRY_AFTER_SECONDS[attempt - 1];
  return seconds === undefined ? null : Math.round(seconds * 1_000 * (1 - jitter + 2 * jitter * random));
}
