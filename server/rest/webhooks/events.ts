import { z } from "zod";
import {
  getWebhookEvent,
  listWebhookAttempts,
  listWebhookEvents,
} from "#server/services/webhooks/events/events";
import { replayWebhookEvent, replayWebhookRange } from "#server/services/webhooks/events/replay";
import { sendTestEvent } from "#server/services/webhooks/events/test-event";
import { changed, Id, listOf, Time } from "#server/shared/wire/shapes";
import {
  presentWebhookAttempt,
  presentWebhookEvent,
  presentWebhookEventDetail,
  WebhookAttemptResponse,
  WebhookEventResponse,
  WebhookEventSummaryResponse,
} from "#server/shared/wire/webhook";
import { listJson, PAGING, rejectTwoCursors } from "../pipeline/query";
import { withApi } from "../pipeline/route";
import { requireId } from "../pipeline/validate";
import { ReplayRangeBody, TestEventQuery, WebhookEventsQuery } from "../wire/webhook-input";

export const getWebhookEvents = withApi(
  {
    method: "GET",
    path: "/api/webhooks/{id}/events",
    access: { scope: "webhooks:read" },
    tier: "other",
    summary: "List the event deliveries of an endpoint, newest first",
    query: WebhookEventsQuery,
    example: { query: { status: "failed", limit: "20" } },
    response: listOf(WebhookEventSummaryResponse),
  },
  async ({ ctx, params, query }) => {
    rejectTwoCursors(query);
    const { rows, hasMore } = await listWebhookEvents(ctx, requireId(params, "id"), query);
    return { body: listJson(rows.map(presentWebhookEvent), hasMore) };
  },
);

export const getOneWebhookEvent = withApi(
  {
    method: "GET",
    path: "/api/webhooks/{id}/events/{event_id}",
    access: { scope: "webhooks:read" },
    tier: "other",
    summary: "Get an event delivery with its payload",
    response: WebhookEventResponse,
  },
  async ({ ctx, params }) => ({
    body: presentWebhookEventDetail(
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
    summary: "List the attempts of an event delivery, newest first",
    query: z.strictObject(PAGING),
    example: { query: { limit: "20" } },
    response: listOf(WebhookAttemptResponse),
  },
  async ({ ctx, params, query }) => {
    rejectTwoCursors(query);
    const { rows, hasMore } = await listWebhookAttempts(
      ctx,
      requireId(params, "id"),
      requireId(params, "event_id"),
      query,
    );
    return { body: listJson(rows.map(presentWebhookAttempt), hasMore) };
  },
);

export const postWebhookEventReplay = withApi(
  {
    method: "POST",
    path: "/api/webhooks/{id}/events/{event_id}/replay",
    access: { scope: "webhooks:write" },
    tier: "other",
    summary: "Replay an event with the same id and payload",
    response: changed("webhook_event"),
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
    summary: "Replay the events of a time range; by default only failed event deliveries",
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
    summary: "Send a test event of a subscribed type to an endpoint",
    status: 201,
    query: TestEventQuery,
    example: { query: { type: "email.delivered" } },
    response: z.object({ object: z.literal("webhook_event"), id: Id, type: z.string() }),
    errors: ["conflict"],
  },
  async ({ ctx, params, query }) => {
    const { id, type } = await sendTestEvent(ctx, requireId(params, "id"), query.type);
    return { body: { object: "webhook_event", id, type } } as const;
  },
);
