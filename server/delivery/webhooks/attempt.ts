import { performance } from "node:perf_hooks";
import type { Deps } from "#server/deps";
import type { OutsideResponse } from "#server/platform/egress/call";
import { newId } from "#server/platform/ids";
import { openSigningSecret } from "#server/services/webhooks/secrets";
import { signatureHeaders } from "#server/services/webhooks/sign";
import { type Classification, classifyResponse } from "./classify-response";
import type { WebhookClaim } from "./queue";
import type { WebhookResult } from "./record-results";
import { webhookRetryAfterMs } from "./retry";

/** Maximum duration of an attempt: DNS lookup, connection, response and body together. */
export const attemptMsMax = 15_000;
const responseBytesMax = 16 * 1024;

export type Attempt = { result: WebhookResult; kind: Classification["kind"]; durationMs: number };

/**
 * Sends an event to its endpoint and converts the response into the result to record. This function is the whole webhook
 * delivery policy. Returns null if `signal` aborted the request, because the outcome is unknown.
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
  const classification = classifyResponse(httpResponse, deps.clock());
  const pauseMs = classification.kind === "failed" ? classification.pauseMs : null;
  const waitMs = classification.kind === "failed" ? webhookRetryAfterMs(claim.attempt, Math.random()) : null;
  const status = classification.kind === "succeeded" ? "success" : waitMs === null ? "failed" : "pending";
  return {
    kind: classification.kind,
    durationMs,
    result: {
      id: claim.id,
      leaseToken: claim.leaseToken,
      status,
      retryAfterMs: waitMs === null ? null : Math.max(waitMs, pauseMs ?? 0),
      pauseMs,
      isGone: classification.kind === "gone",
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
