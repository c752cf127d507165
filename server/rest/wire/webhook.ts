import { z } from "zod";
import { WEBHOOK_DELIVERY_STATUSES } from "#db/schema/webhooks";
import type { SigningSecrets, Webhook } from "#server/services/webhooks/endpoints";
import type { WebhookAttempt, WebhookDelivery } from "#server/services/webhooks/events";
import { Id, Time } from "./shapes";

export const WebhookSummaryAnswer = z
  .object({
    id: Id,
    endpoint: z.string(),
    events: z.array(z.string()),
    status: z.enum(["enabled", "disabled"]),
    disabled_reason: z
      .enum(["gone", "failing"])
      .nullable()
      .describe("Where we disabled it: it answered 410, or failed for days."),
    failing_since: Time.nullable(),
    created_at: Time,
  })
  .meta({ id: "WebhookSummary" });

const secretNote = "For holders of `webhooks:write` alone.";

export const WebhookAnswer = z
  .object({
    object: z.literal("webhook"),
    ...WebhookSummaryAnswer.shape,
    signing_secret: z.string().optional().describe(secretNote),
    previous_signing_secret: z.string().nullable().optional().describe(secretNote),
    previous_signing_secret_until: Time.nullable().optional().describe(secretNote),
  })
  .meta({ id: "Webhook" });

export const WebhookEventSummaryAnswer = z
  .object({
    id: Id.describe("The id that the receiver sees, the same in every attempt."),
    type: z.string(),
    created_at: Time,
    status: z.enum(WEBHOOK_DELIVERY_STATUSES),
    attempts: z.int(),
    next_attempt_at: Time.nullable(),
  })
  .meta({ id: "WebhookEventSummary" });

export const WebhookEventAnswer = z
  .object({
    object: z.literal("webhook_event"),
    ...WebhookEventSummaryAnswer.shape,
    email_id: Id.nullable(),
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "WebhookEvent" });

export const WebhookAttemptAnswer = z
  .object({
    id: Id,
    number: z.int().describe("From 1, over all rounds."),
    http_status_code: z.int().nullable(),
    response: z.string().nullable().describe("At most 16 KB of the answer."),
    fault: z.string().nullable().describe("Why no answer came."),
    duration_ms: z.int(),
    sent_at: Time,
    next_attempt_at: Time.nullable(),
    request: z.object({ url: z.string(), headers: z.record(z.string(), z.string()) }),
  })
  .meta({ id: "WebhookAttempt" });

/** One endpoint as lists show it. */
export function webhookSummaryJson(webhook: Webhook): z.infer<typeof WebhookSummaryAnswer> {
  const { id, url, events, status, disabledReason, failingSince, createdAt } = webhook;
  return {
    id,
    endpoint: url,
    events,
    status,
    disabled_reason: disabledReason,
    failing_since: failingSince?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  };
}

/** One endpoint; its secrets stand in it only for who may see them. */
export function webhookJson(webhook: Webhook, secrets: SigningSecrets | null): z.infer<typeof WebhookAnswer> {
  return {
    object: "webhook",
    ...webhookSummaryJson(webhook),
    ...(secrets && {
      signing_secret: secrets.current,
      previous_signing_secret: secrets.previous?.secret ?? null,
      previous_signing_secret_until: secrets.previous?.until.toISOString() ?? null,
    }),
  };
}

/** One event of an endpoint as lists show it. */
export function webhookEventSummaryJson({
  id,
  type,
  createdAt,
  status,
  attempts,
  dueAt,
}: WebhookDelivery): z.infer<typeof WebhookEventSummaryAnswer> {
  return {
    id,
    type,
    created_at: createdAt.toISOString(),
    status,
    attempts,
    next_attempt_at: status === "pending" ? dueAt.toISOString() : null,
  };
}

/** One event of an endpoint with the body that it carries. */
export function webhookEventJson(
  event: WebhookDelivery & { body: Record<string, unknown> },
): z.infer<typeof WebhookEventAnswer> {
  return {
    object: "webhook_event",
    ...webhookEventSummaryJson(event),
    email_id: event.emailId,
    payload: event.body,
  };
}

/** One call: what was sent beside the payload, what came back, and when the next one was planned after it. */
export function webhookAttemptJson(attempt: WebhookAttempt): z.infer<typeof WebhookAttemptAnswer> {
  return {
    id: attempt.id,
    number: attempt.number,
    http_status_code: attempt.statusCode,
    response: attempt.response,
    fault: attempt.fault,
    duration_ms: attempt.durationMs,
    sent_at: attempt.sentAt.toISOString(),
    next_attempt_at: attempt.nextAttemptAt?.toISOString() ?? null,
    request: { url: attempt.url, headers: attempt.headers },
  };
}
