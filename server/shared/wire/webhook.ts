import { z } from "zod";
import {
  WEBHOOK_DELIVERY_STATUSES,
  type webhookAttempts,
  type webhookDeliveries,
  type webhooks,
} from "#db/schema/webhooks";
import { warnOfEvents } from "../webhook-event-words";
import { Id, present, Time } from "./shapes";

/** An endpoint without its secrets. */
export type Webhook = Omit<typeof webhooks.$inferSelect, "secret" | "previousSecret">;
export type SigningSecrets = { current: string; previous: { secret: string; until: Date } | null };
/** The delivery of one event to one endpoint. */
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect;
export type WebhookAttempt = typeof webhookAttempts.$inferSelect;

export const WebhookSummaryResponse = z
  .object({
    id: Id,
    endpoint: z.string(),
    events: z.array(z.string()),
    status: z.enum(["enabled", "disabled"]),
    disabled_reason: z
      .enum(["gone", "failing"])
      .nullable()
      .describe(
        "Why the service disabled the endpoint: `gone` (it responded with 410) or `failing` (it failed for days).",
      ),
    failing_since: Time.nullable(),
    created_at: Time,
  })
  .meta({ id: "WebhookSummary" });

const secretNote = "Only for keys with the scope `webhooks:write`.";

export const WebhookWarnings = z
  .array(z.string())
  .optional()
  .describe("What is wrong with the events, such as one that never occurs. Absent if nothing is.");

export const WebhookResponse = z
  .object({
    object: z.literal("webhook"),
    ...WebhookSummaryResponse.shape,
    warnings: WebhookWarnings,
    signing_secret: z.string().optional().describe(secretNote),
    previous_signing_secret: z.string().nullable().optional().describe(secretNote),
    previous_signing_secret_until: Time.nullable().optional().describe(secretNote),
  })
  .meta({ id: "Webhook" });

export const WebhookEventSummaryResponse = z
  .object({
    id: Id.describe("The id that the endpoint receives, the same in every attempt."),
    type: z.string(),
    created_at: Time,
    status: z.enum(WEBHOOK_DELIVERY_STATUSES),
    attempts: z.int(),
    next_attempt_at: Time.nullable(),
  })
  .meta({ id: "WebhookEventSummary" });

export const WebhookEventResponse = z
  .object({
    object: z.literal("webhook_event"),
    ...WebhookEventSummaryResponse.shape,
    email_id: Id.nullable(),
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "WebhookEvent" });

export const WebhookAttemptResponse = z
  .object({
    id: Id,
    number: z.int().describe("Counts from 1 and continues after a replay."),
    http_status_code: z.int().nullable(),
    response: z.string().nullable().describe("At most 16 KB of the response body."),
    fault: z.string().nullable().describe("Why there was no response."),
    duration_ms: z.int(),
    sent_at: Time,
    next_attempt_at: Time.nullable(),
    request: z.object({ url: z.string(), headers: z.record(z.string(), z.string()) }),
  })
  .meta({ id: "WebhookAttempt" });

/** An endpoint as in lists. */
export const presentWebhook = (webhook: Webhook) =>
  present(WebhookSummaryResponse, webhook, { endpoint: webhook.url });

/** The warnings about events of an endpoint, if there are any. */
export function presentWarnings(events: readonly string[] = []): { warnings?: string[] } {
  const warnings = warnOfEvents(events);
  return warnings.length > 0 ? { warnings } : {};
}

/** An endpoint, with its signing secrets if the caller may read them. */
export const presentWebhookDetail = (
  webhook: Webhook,
  secrets: SigningSecrets | null,
): z.infer<typeof WebhookResponse> => ({
  object: "webhook",
  ...presentWebhook(webhook),
  ...presentWarnings(webhook.events),
  ...(secrets && {
    signing_secret: secrets.current,
    previous_signing_secret: secrets.previous?.secret ?? null,
    previous_signing_secret_until: secrets.previous?.until.toISOString() ?? null,
  }),
});

export type WebhookEventWire = z.infer<typeof WebhookEventSummaryResponse>;

/** An event delivery as in lists. */
export const presentWebhookEvent = (delivery: WebhookDelivery): WebhookEventWire =>
  present(WebhookEventSummaryResponse, delivery, {
    next_attempt_at: delivery.status === "pending" ? delivery.dueAt.toISOString() : null,
  });

/** An event delivery with its payload. */
export const presentWebhookEventDetail = (
  delivery: WebhookDelivery & { body: Record<string, unknown> },
): z.infer<typeof WebhookEventResponse> => ({
  object: "webhook_event",
  ...presentWebhookEvent(delivery),
  email_id: delivery.emailId,
  payload: delivery.body,
});

export type WebhookAttemptWire = z.infer<typeof WebhookAttemptResponse>;

/**
 * One attempt: the request without its payload, the response, and the time scheduled for the next attempt.
 */
export const presentWebhookAttempt = (attempt: WebhookAttempt): WebhookAttemptWire =>
  present(WebhookAttemptResponse, attempt, {
    http_status_code: attempt.statusCode,
    request: { url: attempt.url, headers: attempt.headers },
  });
