import { z } from "zod";
import { WEBHOOK_DELIVERY_STATUSES } from "#db/schema/webhooks";
import { absent, optional } from "#server/services/emails/accept/message-input";
import type { WebhookChange } from "#server/services/webhooks/endpoints";
import type { ReplayRange } from "#server/services/webhooks/events/replay";
import { EndpointUrl, WebhookEventName, WebhookEventNames } from "#server/services/webhooks/webhook-input";
import { listQuery } from "../pipeline/query";

const timeMax = Date.UTC(9999, 0, 1);
const TIME = "Must be an ISO 8601 time with zone, such as 2026-01-31T09:00:00Z.";
const Time = z.iso
  .datetime({ offset: true, message: TIME })
  .transform((text) => new Date(text))
  .refine((time) => time.getTime() >= 0 && time.getTime() < timeMax, "Must be between 1970 and 9998.");

const EndpointStatus = z.enum(["enabled", "disabled"], 'Must be "enabled" or "disabled".');

/** The body of `POST /api/webhooks`. The default status is enabled. */
export const CreateWebhookBody = z
  .strictObject({
    endpoint: z.preprocess(absent, EndpointUrl),
    events: z.preprocess(absent, WebhookEventNames),
    status: optional(EndpointStatus),
  })
  .transform(({ endpoint, events, status }) => ({ url: endpoint, events, status: status ?? "enabled" }));

/** The body of `PATCH /api/webhooks/{id}`. Omitted fields do not change. */
export const UpdateWebhookBody = z
  .strictObject({
    endpoint: optional(EndpointUrl),
    events: optional(WebhookEventNames),
    status: optional(EndpointStatus),
  })
  .transform(({ endpoint: url, events, status }): WebhookChange => ({ url, events, status }));

/** The body of `POST /api/webhooks/{id}/replay`. */
export const ReplayRangeBody = z
  .strictObject({
    since: z.preprocess(absent, Time),
    until: optional(Time),
    status: optional(z.enum(["failed", "success"], 'Must be "failed" or "success".')),
    type: optional(WebhookEventName),
  })
  .transform(
    ({ since, until, status, type }): ReplayRange => ({
      since,
      until: until ?? null,
      status: status ?? "failed",
      type: type ?? null,
    }),
  );

/** The query of `POST /api/webhooks/{id}/test`. */
export const TestEventQuery = z.strictObject({ type: WebhookEventName.optional() });

/** The query of `GET /api/webhooks/{id}/events`. */
export const WebhookEventsQuery = listQuery({
  status: z
    .enum(WEBHOOK_DELIVERY_STATUSES, `Must be one of ${WEBHOOK_DELIVERY_STATUSES.join(", ")}.`)
    .optional(),
  type: WebhookEventName.optional(),
});
