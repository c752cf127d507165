import { z } from "zod";
import { getWebhookEvent, listWebhookAttempts, listWebhookEvents } from "#server/services/webhooks/events";
import { replayWebhookEvent, replayWebhookRange } from "#server/services/webhooks/replay";
import { sendTestEvent } from "#server/services/webhooks/test-event";
import { listJson, PAGING, refuseTwoCursors } from "./query";
import { withApi } from "./route";
import { requireId } from "./validate";
import { changed, Id, listOf, Time } from "./wire/shapes";
import {
  WebhookAttemptAnswer,
  WebhookEventAnswer,
  WebhookEventSummaryAnswer,
  webhookAttemptJson,
  webhookEventJson,
  webhookEventSummaryJson,
} from "./wire/webhook";
import { ReplayRangeBody, TestEventQuery, WebhookEventsQuery } from "./wire/webhook-input";

export const getWebhookEvents = withApi(
  {
    method: "GET",
    path: "/api/webhooks/{id}/events",
    access: { scope: "webhooks:read" },
    tier: "other",
    summary: "List what an endpoint was or will be told, newest first",
    query: WebhookEventsQuery,
    example: { query: { status: "failed", limit: "20" } },
    answer: listOf(WebhookEventSummaryAnswer),
  },
  async ({ ctx, params, query }) => {
    refuseTwoCursors(query);
    const { rows, hasMore } = await listWebhookEvents(ctx, requireId(params, "id"), query);
    return { body: listJson(rows.map(webhookEventSummaryJson), hasMore) };
  },
);

export const getOneWebhookEvent = withApi(
  {
    method: "GET",
    path: "/api/webhooks/{id}/events/{event_id}",
    access: { scope: "webhooks:read" },
    tier: "other",
    summary: "Show one event of an endpoint with the body that it carries",
    answer: WebhookEventAnswer,
  },
  async ({ ctx, params }) => ({
    body: webhookEventJson(
      await getWebhookEvent(ctx, requireId(params, "id"), requireId(params, "event_id")),
    ),
  }),
);

export const getWebhookAttempts = withApi(
  {
    method: "GET",
    path: "/api/webhooks/{id}/events/{event_id}/attempts",
    access: { scope: "webhooks:read" },
    tier: "other",
    summary: "List the calls that were made for one event, newest first",
    query: z.strictObject(PAGING),
    example: { query: { limit: "20" } },
    answer: listOf(WebhookAttemptAnswer),
  },
  async ({ ctx, params, query }) => {
    refuseTwoCursors(query);
    const { rows, hasMore } = await listWebhookAttempts(
      ctx,
      requireId(params, "id"),
      requireId(params, "event_id"),
      query,
    );
    return { body: listJson(rows.map(webhookAttemptJson), hasMore) };
  },
);

export const postWebhookEventReplay = withApi(
  {
    method: "POST",
    path: "/api/webhooks/{id}/events/{event_id}/replay",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Send one event again, with the same id and body",
    answer: changed("webhook_event"),
    errors: ["conflict"],
  },
  async ({ ctx, params }) => {
    const { id } = await replayWebhookEvent(ctx, requireId(params, "id"), requireId(params, "event_id"));
    return { body: { object: "webhook_event", id } } as const;
  },
);

export const postWebhookReplay = withApi(
  {
    method: "POST",
    path: "/api/webhooks/{id}/replay",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Send again what an endpoint was told in a span of time; what failed unless told otherwise",
    body: ReplayRangeBody,
    example: { body: { since: "2026-01-01T00:00:00Z", status: "failed" } },
    answer: z.object({
      object: z.literal("webhook_replay"),
      webhook_id: Id,
      count: z.int(),
      has_more: z.boolean(),
      next_since: Time.nullable().describe("`since` of the call that goes on."),
    }),
    errors: ["conflict"],
  },
  async ({ ctx, params, body }) => {
    const id = requireId(params, "id");
    const { count, nextSince } = await replayWebhookRange(ctx, id, body);
    return {
      body: {
        object: "webhook_replay" as const,
        webhook_id: id,
        count,
        has_more: nextSince !== null,
        next_since: nextSince?.toISOString() ?? null,
      },
    };
  },
);

export const postWebhookTest = withApi(
  {
    method: "POST",
    path: "/api/webhooks/{id}/test",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Send an endpoint a made-up event of a type that it asked for",
    status: 201,
    query: TestEventQuery,
    example: { query: { type: "email.delivered" } },
    answer: z.object({ object: z.literal("webhook_event"), id: Id, type: z.string() }),
    errors: ["conflict"],
  },
  async ({ ctx, params, query }) => {
    const { id, type } = await sendTestEvent(ctx, requireId(params, "id"), query.type);
    return { body: { object: "webhook_event", id, type } } as const;
  },
);
