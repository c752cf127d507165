import { z } from "zod";
import { WEBHOOK_DELIVERY_STATUSES } from "#db/schema/webhooks";
import { TimeText } from "#server/services/emails/read/filter";
import { absent, optional } from "#server/services/fields";
import {
  createWebhook,
  deleteWebhook,
  getSigningSecrets,
  getWebhook,
  listWebhooks,
  rotateSigningSecret,
  updateWebhook,
  type WebhookChange,
} from "#server/services/webhooks/endpoints";
import {
  getWebhookEvent,
  listWebhookAttempts,
  listWebhookEvents,
  type ReplayRange,
  replayWebhookEvent,
  replayWebhookRange,
} from "#server/services/webhooks/events/events";
import { sendTestEvent } from "#server/services/webhooks/events/test-event";
import { EndpointUrl, WebhookEventName, WebhookEventNames } from "#server/services/webhooks/webhook-input";
import {
  changed,
  deleted,
  Id,
  listOf,
  presentChanged,
  presentDeleted,
  Time,
} from "#server/shared/wire/shapes";
import {
  presentWarnings,
  presentWebhook,
  presentWebhookAttempt,
  presentWebhookDetail,
  presentWebhookEvent,
  presentWebhookEventDetail,
  WebhookAttemptResponse,
  WebhookEventResponse,
  WebhookEventSummaryResponse,
  WebhookResponse,
  WebhookSummaryResponse,
  WebhookWarnings,
} from "#server/shared/wire/webhook";
import { listJson, listQuery } from "./pipeline/query";
import { withApi } from "./pipeline/route";

const EndpointStatus = z.enum(["enabled", "disabled"], 'Must be "enabled" or "disabled".');

/** The body of `POST /api/webhooks`. The default status is enabled. */
export const CreateWebhookBody = z
  .strictObject({
    endpoint: z.preprocess(absent, EndpointUrl).describe("The URL that receives the events, with https."),
    events: z.preprocess(absent, WebhookEventNames).describe("The events to send."),
    status: optional(EndpointStatus).describe("A disabled endpoint receives nothing."),
  })
  .transform(({ endpoint, events, status }) => ({ url: endpoint, events, status: status ?? "enabled" }));

/** The body of `PATCH /api/webhooks/{id}`. Omitted fields do not change. */
export const UpdateWebhookBody = z
  .strictObject({
    endpoint: optional(EndpointUrl).describe("The URL that receives the events, with https."),
    events: optional(WebhookEventNames).describe("The events to send, in place of the earlier ones."),
    status: optional(EndpointStatus).describe("A disabled endpoint receives nothing."),
  })
  .transform(({ endpoint: url, events, status }): WebhookChange => ({ url, events, status }));

/** The body of `POST /api/webhooks/{id}/replay`. */
export const ReplayRangeBody = z
  .strictObject({
    since: z.preprocess(absent, TimeText).describe("The start of the range."),
    until: optional(TimeText).describe("The end of the range. Default: now."),
    status: optional(
      z.enum(["failed", "unfinished", "success"], 'Must be "failed", "unfinished" or "success".'),
    ).describe("Which event deliveries; `unfinished` is failed and pending ones. Default: `failed`."),
    type: optional(WebhookEventName).describe("Only events of this type."),
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
export const TestEventQuery = z.strictObject({
  type: WebhookEventName.optional().describe(
    "The type of the event. Default: the first one to which the endpoint subscribes.",
  ),
});

/** The query of `GET /api/webhooks/{id}/events`. */
export const WebhookEventsQuery = listQuery({
  status: z
    .enum(WEBHOOK_DELIVERY_STATUSES, `Must be one of ${WEBHOOK_DELIVERY_STATUSES.join(", ")}.`)
    .optional()
    .describe("The state of the event delivery."),
  type: WebhookEventName.optional().describe("The type of the event."),
});

const SecretResponse = changed("webhook").extend({
  signing_secret: z
    .string()
    .describe("`whsec_` followed by the key in Base64, as Standard Webhooks libraries expect it."),
});

export const webhookRoutes = [
  withApi({
    route: "POST /api/webhooks",
    access: { scope: "webhooks:write" },
    summary: "Create an endpoint that receives events",
    status: 201,
    body: CreateWebhookBody,
    example: {
      body: { endpoint: "https://example.com/hooks", events: ["email.delivered", "email.bounced"] },
    },
    response: SecretResponse.extend({ warnings: WebhookWarnings }),
    errors: ["conflict"],
    handle: async ({ ctx, body }) => {
      const { signingSecret, ...created } = await createWebhook(ctx, body);
      return {
        ...presentChanged("webhook", created),
        signing_secret: signingSecret,
        ...presentWarnings(body.events),
      };
    },
  }),
  withApi({
    route: "GET /api/webhooks",
    access: { scope: "webhooks:read" },
    summary: "List endpoints, newest first",
    query: listQuery({}),
    example: { query: { limit: "20" } },
    response: listOf(WebhookSummaryResponse),
    handle: async ({ ctx, query }) => listJson(await listWebhooks(ctx, query), presentWebhook),
  }),
  /** The response contains the signing secrets only if the key has the scope `webhooks:write`. */
  withApi({
    route: "GET /api/webhooks/{id}",
    access: { scope: "webhooks:read" },
    summary: "Get an endpoint; a key with `webhooks:write` also gets its signing secrets",
    response: WebhookResponse,
    handle: async ({ ctx, params: { id } }) => {
      const webhook = await getWebhook(ctx, id);
      return presentWebhookDetail(webhook, await getSigningSecrets(ctx, id));
    },
  }),
  withApi({
    route: "PATCH /api/webhooks/{id}",
    access: { scope: "webhooks:write" },
    summary: "Update an endpoint's URL or events, or enable or disable it",
    body: UpdateWebhookBody,
    repeatsId: ["id", "webhook_id"],
    example: { body: { events: ["email.bounced", "email.complained"], status: "enabled" } },
    response: changed("webhook").extend({ warnings: WebhookWarnings }),
    handle: async ({ ctx, params, body }) => ({
      ...presentChanged("webhook", await updateWebhook(ctx, params.id, body)),
      ...presentWarnings(body.events),
    }),
  }),
  withApi({
    route: "DELETE /api/webhooks/{id}",
    access: { scope: "webhooks:write" },
    summary: "Delete an endpoint and its pending event deliveries",
    response: deleted("webhook"),
    handle: async ({ ctx, params }) => presentDeleted("webhook", await deleteWebhook(ctx, params.id)),
  }),
  withApi({
    route: "POST /api/webhooks/{id}/signing-secret/rotate",
    access: { scope: "webhooks:write" },
    summary: "Rotate an endpoint's signing secret; events are signed with both secrets for one day",
    response: SecretResponse,
    handle: async ({ ctx, params }) => {
      const { id, signingSecret } = await rotateSigningSecret(ctx, params.id);
      return { object: "webhook" as const, id, signing_secret: signingSecret };
    },
  }),
  withApi({
    route: "GET /api/webhooks/{id}/events",
    access: { scope: "webhooks:read" },
    summary: "List the event deliveries of an endpoint, newest first",
    query: WebhookEventsQuery,
    example: { query: { status: "failed", limit: "20" } },
    response: listOf(WebhookEventSummaryResponse),
    handle: async ({ ctx, params, query }) =>
      listJson(await listWebhookEvents(ctx, params.id, query), presentWebhookEvent),
  }),
  withApi({
    route: "GET /api/webhooks/{id}/events/{event_id}",
    access: { scope: "webhooks:read" },
    summary: "Get an event delivery with its payload",
    response: WebhookEventResponse,
    handle: async ({ ctx, params }) =>
      presentWebhookEventDetail(await getWebhookEvent(ctx, params.id, params.event_id)),
  }),
  withApi({
    route: "GET /api/webhooks/{id}/events/{event_id}/attempts",
    access: { scope: "webhooks:read" },
    summary: "List the attempts of an event delivery, newest first",
    query: listQuery({}),
    example: { query: { limit: "20" } },
    response: listOf(WebhookAttemptResponse),
    handle: async ({ ctx, params, query }) =>
      listJson(await listWebhookAttempts(ctx, params.id, params.event_id, query), presentWebhookAttempt),
  }),
  withApi({
    route: "POST /api/webhooks/{id}/events/{event_id}/replay",
    access: { scope: "webhooks:write" },
    summary: "Replay an event with the same id and payload",
    response: changed("webhook_event"),
    errors: ["conflict"],
    handle: async ({ ctx, params }) =>
      presentChanged("webhook_event", await replayWebhookEvent(ctx, params.id, params.event_id)),
  }),
  withApi({
    route: "POST /api/webhooks/{id}/replay",
    access: { scope: "webhooks:write" },
    summary:
      "Replay the events of a time range: by default failed ones; `unfinished` are failed and pending ones",
    body: ReplayRangeBody,
    example: { body: { since: "2026-01-01T00:00:00Z", status: "failed" } },
    response: z.object({
      object: z.literal("webhook_replay"),
      webhook_id: Id,
      count: z.int(),
      has_more: z.boolean(),
      next_since: Time.nullable().describe("`since` for the next call, if `has_more` is true."),
    }),
    errors: ["conflict"],
    handle: async ({ ctx, params: { id }, body }) => {
      const { count, nextSince } = await replayWebhookRange(ctx, id, body);
      return {
        object: "webhook_replay" as const,
        webhook_id: id,
        count,
        has_more: nextSince !== null,
        next_since: nextSince?.toISOString() ?? null,
      };
    },
  }),
  withApi({
    route: "POST /api/webhooks/{id}/test",
    access: { scope: "webhooks:write" },
    summary: "Send a test event of a subscribed type to an endpoint",
    status: 201,
    query: TestEventQuery,
    example: { query: { type: "email.delivered" } },
    response: z.object({ object: z.literal("webhook_event"), id: Id, type: z.string() }),
    errors: ["conflict"],
    handle: async ({ ctx, params, query }) => ({
      object: "webhook_event" as const,
      ...(await sendTestEvent(ctx, params.id, query.type)),
    }),
  }),
];
