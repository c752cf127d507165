import { performance } from "node:perf_hooks";
import type { WebhookClaim } from "#db/webhook-queue";
import type { WebhookResult } from "#db/webhook-results";
import type { Deps } from "#server/deps";
import type { OutsideAnswer } from "#server/egress/outside";
import { newId } from "#server/ids";
import { openSigningSecret } from "#server/services/webhooks/secrets";
import { signatureHeaders } from "#server/services/webhooks/sign";
import { judgeAnswer } from "./judge";
import { webhookRetryAfterMs } from "./retry";

/** For name, connection, answer and its body together. */
export const callMsMax = 15_000;
const answerBytesMax = 16 * 1024;

export type Call = { result: WebhookResult; kind: "taken" | "gone" | "refused"; durationMs: number };

/**
 * Makes one call with a body that is fixed, and turns what came of it into what is written: the whole policy of webhooks in
 * one place. Null where `signal` broke it off: then nothing is known of it.
 */
export async function callEndpoint(
  deps: Pick<Deps, "outside" | "vault" | "clock">,
  claim: WebhookClaim,
  body: string,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<Call | null> {
  const headers = headersOf(deps, claim, body);
  const startedMs = performance.now();
  const answer = await deps.outside.fetch(claim.url, {
    method: "POST",
    headers,
    body,
    timeoutMs: options.timeoutMs,
    answerBytesMax,
    signal: options.signal,
  });
  if (options.signal.aborted) return null;
  const durationMs = Math.round(performance.now() - startedMs);
  const judgement = judgeAnswer(answer, deps.clock());
  const pauseMs = judgement.kind === "refused" ? judgement.pauseMs : null;
  const waitMs = judgement.kind === "refused" ? webhookRetryAfterMs(claim.attempt, Math.random()) : null;
  const status = judgement.kind === "taken" ? "success" : waitMs === null ? "failed" : "pending";
  return {
    kind: judgement.kind,
    durationMs,
    result: {
      id: claim.id,
      leaseToken: claim.leaseToken,
      status,
      retryAfterMs: waitMs === null ? null : Math.max(waitMs, pauseMs ?? 0),
      pauseMs,
      attempt: { id: newId(), url: claim.url, headers, durationMs, ...answerFacts(answer) },
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
    "user-agent": "Posthorn-Webhooks/1.0",
    ...signatureHeaders({
      id: claim.id,
      timestampSeconds: Math.floor(clock().getTime() / 1_000),
      body,
      secrets,
    }),
  };
}

function answerFacts(answer: OutsideAnswer) {
  if (answer.kind === "fault") return { statusCode: null, response: null, fault: answer.fault };
  const encoding = answer.headers["content-encoding"];
  const response =
    encoding === undefined || encoding === "identity"
      ? // What is no UTF-8 and what PostgreSQL cannot keep becomes the replacement character.
        new TextDecoder().decode(answer.body).replaceAll("\0", "\ufffd")
      : `(${answer.body.length} bytes, encoded as ${encoding.slice(0, 40)})`;
  return { statusCode: answer.status, response, fault: null };
}
