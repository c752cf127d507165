import type { inferRouterOutputs } from "@trpc/server";
import { z } from "zod";
import { WEBHOOK_DELIVERY_STATUSES } from "#db/schema/webhooks";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import {
  createWebhook,
  deleteWebhook,
  endpointsMax,
  getWebhook,
  listWebhooks,
  rotateSigningSecret,
  updateWebhook,
} from "#server/services/webhooks/endpoints";
import { listEventEmails } from "#server/services/webhooks/events/event-emails";
import {
  countReplayRange,
  getWebhookEvent,
  listWebhookAttempts,
  listWebhookEvents,
  replayWebhookEvent,
  replayWebhookRange,
} from "#server/services/webhooks/events/events";
import { retryPendingEvents } from "#server/services/webhooks/events/retry-pending";
import { sendTestEvent } from "#server/services/webhooks/events/test-event";
import { listUnknownEmails } from "#server/services/webhooks/events/unknown-emails";
import { WEBHOOK_RETRY_AFTER_SECONDS } from "#server/services/webhooks/schedule";
import { EndpointUrl, WebhookEventName, WebhookEventNames } from "#server/services/webhooks/webhook-input";
import { presentWebhookAttempt, presentWebhookEventDetail } from "#server/shared/wire/webhook";
import { CURSOR, inTeam, joined, router } from "../init";
import { isTestEvent, viewDelivery, viewEndpoints } from "./views";

const deliveryRows = 25;
const attemptsShownMax = 100;
/** Events of a range are counted up to this number before a replay. */
const rangeCountedMax = 10_000;

const idText = z.string().max(60);
const requireId = (id: string, noun = "Webhook"): string => {
  if (!isId(id)) throw notFound(noun);
  return id;
};

const WebhookId = { id: idText };
const EventId = { ...WebhookId, event: idText };
const Names = WebhookEventNames.refine((names) => names.length > 0, "Choose at least one event.");
const Url = EndpointUrl.trim().min(1, "Enter the URL to call.");
const Status = z.enum(["enabled", "disabled"]);

const DeliveryList = {
  ...WebhookId,
  status: z.enum(WEBHOOK_DELIVERY_STATUSES).optional(),
  type: WebhookEventName.optional(),
  ...CURSOR,
};

/** `next` of the part before; null at the start. */
const Next = z.string().max(1_000).nullish();
const Time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const Range = {
  ...WebhookId,
  since: Time,
  until: Time.nullable(),
  status: z.enum(["failed", "unfinished", "success"]),
  type: WebhookEventName.nullable(),
};

export const webhooksRouter = router({
  /** All endpoints of the team; the limit per team fits on one page. */
  list: inTeam("webhooks:read").query((call) =>
    joined(call, async (service) => {
      const { rows } = await listWebhooks(service, { limit: endpointsMax });
      return viewEndpoints(service, rows);
    }),
  ),
  get: inTeam("webhooks:read", WebhookId).query(async ({ ctx, input }) => {
    const [endpoint] = await viewEndpoints(ctx.service, [await getWebhook(ctx.service, requireId(input.id))]);
    if (!endpoint) throw notFound("Webhook");
    return endpoint;
  }),
  /** Emails of unknown outcome, which `email.unknown` reports and a member resolves. */
  heldUnknown: inTeam("emails:read").query(({ ctx }) => listUnknownEmails(ctx.service)),
  deliveries: inTeam("webhooks:read", DeliveryList).query((call) =>
    joined(call, async (service) => {
      const { id, status, type, after, before } = call.input;
      const page = { limit: deliveryRows, status, type, after, before };
      const { rows, hasMore } = await listWebhookEvents(service, requireId(id), page);
      const emails = await listEventEmails(service, rows);
      return { rows: rows.map((row) => viewDelivery(row, emails)), hasMore };
    }),
  ),
  delivery: inTeam("webhooks:read", EventId).query(async ({ ctx, input }) => {
    const [id, event] = [requireId(input.id), requireId(input.event, "Webhook event")];
    const delivery = await getWebhookEvent(ctx.service, id, event);
    const { rows, hasMore } = await listWebhookAttempts(ctx.service, id, event, {
      limit: attemptsShownMax,
    });
    const emails = await listEventEmails(ctx.service, [delivery]);
    return {
      ...presentWebhookEventDetail(delivery),
      isTest: isTestEvent(delivery),
      /** The email of the event; null for an event without one, or if it is no longer retained. */
      email: emails.get(delivery.id) ?? null,
      /** The payload is fixed at the first attempt; before that it is generated on read. */
      isPayloadFixed: delivery.payload !== null,
      /** Seconds between the attempts of a round, starting with the first failure. */
      retryAfterSeconds: [...WEBHOOK_RETRY_AFTER_SECONDS],
      attemptPage: { rows: rows.map(presentWebhookAttempt), hasMore },
    };
  }),
  /** Returns the signing secret; besides this, only `rotate` returns it in the console. */
  create: inTeam("webhooks:write", { url: Url, events: Names }).mutation(({ ctx, input: { url, events } }) =>
    createWebhook(ctx.service, { url, events, status: "enabled" }),
  ),
  update: inTeam("webhooks:write", {
    ...WebhookId,
    url: Url.optional(),
    events: Names.optional(),
    status: Status.optional(),
  }).mutation(({ ctx, input: { id, url, events, status } }) =>
    updateWebhook(ctx.service, requireId(id), { url, events, status }),
  ),
  rotate: inTeam("webhooks:write", WebhookId).mutation(({ ctx, input }) =>
    rotateSigningSecret(ctx.service, requireId(input.id)),
  ),
  remove: inTeam("webhooks:write", WebhookId).mutation(({ ctx, input }) =>
    deleteWebhook(ctx.service, requireId(input.id)),
  ),
  test: inTeam("webhooks:write", { ...WebhookId, type: WebhookEventName }).mutation(
    ({ ctx, input: { id, type } }) => sendTestEvent(ctx.service, requireId(id), type),
  ),
  replay: inTeam("webhooks:write", EventId).mutation(({ ctx, input }) =>
    replayWebhookEvent(ctx.service, requireId(input.id), requireId(input.event, "Webhook event")),
  ),
  /**
   * Makes one part of the pending events due now; `next` starts the next part, null after the last. They are
   * sent as fast as the endpoint's concurrency limit allows.
   */
  retryPending: inTeam("webhooks:write", { ...WebhookId, next: Next }).mutation(
    ({ ctx, input: { id, next } }) => retryPendingEvents(ctx.service, requireId(id), next ?? null),
  ),
  /** How many events a replay would send again, before it is started. */
  countRange: inTeam("webhooks:read", Range).query(async ({ ctx, input: { team: _, id, ...range } }) => {
    const count = await countReplayRange(ctx.service, requireId(id), range, rangeCountedMax);
    return { count, isAtLeast: count === rangeCountedMax };
  }),
  /** Replays one part of a range; `next` starts the next part, null after the last. */
  replayRange: inTeam("webhooks:write", { ...Range, next: Next }).mutation(
    async ({ ctx, input: { team: _, id, next: from, ...range } }) => {
      const { count, next } = await replayWebhookRange(ctx.service, requireId(id), range, from ?? null);
      return { count, next };
    },
  ),
});

export type WebhookDeliveryView = inferRouterOutputs<typeof webhooksRouter>["delivery"];
