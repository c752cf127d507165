import { z } from "zod";
import { WEBHOOK_DELIVERY_STATUSES } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { isId } from "#server/ids";
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  updateWebhook,
  type Webhook,
} from "#server/services/webhooks/endpoints";
import { getWebhookEvent, listWebhookAttempts, listWebhookEvents } from "#server/services/webhooks/events";
import { readHeldUnknown } from "#server/services/webhooks/held-unknown";
import { countReplayRange, replayWebhookEvent, replayWebhookRange } from "#server/services/webhooks/replay";
import { rotateSigningSecret } from "#server/services/webhooks/rotate";
import { readStandings } from "#server/services/webhooks/standing";
import { sendTestEvent } from "#server/services/webhooks/test-event";
import { VERIFY_SNIPPETS } from "#server/services/webhooks/verify-snippets";
import { EndpointUrl, WebhookEventName, WebhookEventNames } from "#server/services/webhooks/webhook-input";
import { inTeam, router } from "./init";
import { NoMore } from "./strict";
import { viewEndpoint, viewWebhookDelivery, viewWholeDelivery } from "./webhook-views";

const endpointRows = 100;
const deliveryRows = 25;
const callsShownMax = 100;
/** Events of a range that are counted before somebody replays them. */
const rangeCountedMax = 10_000;

const idText = z.string().max(60);
const known = (id: string, noun = "Webhook"): string => {
  if (!isId(id)) throw notFound(noun);
  return id;
};

const team = idText;
const WebhookId = z.strictObject({ team, id: idText });
const EventId = WebhookId.extend({ event: idText });
const Names = WebhookEventNames.refine((names) => names.length > 0, "Choose at least one event.");
const Url = EndpointUrl.trim().min(1, "Give the address that is to be called.");
const Status = z.enum(["enabled", "disabled"]);

const DeliveryList = WebhookId.extend({
  status: z.enum(WEBHOOK_DELIVERY_STATUSES).optional(),
  type: WebhookEventName.optional(),
  after: z.uuid().optional(),
  before: z.uuid().optional(),
});

const Time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const Range = WebhookId.extend({
  since: Time,
  until: Time.nullable(),
  status: z.enum(["failed", "success"]),
  type: WebhookEventName.nullable(),
});

async function viewOf(ctx: Ctx, webhook: Webhook) {
  const standing = (await readStandings(ctx, [webhook.id])).get(webhook.id);
  if (!standing) throw notFound("Webhook");
  return viewEndpoint(webhook, standing, ctx.clock());
}

export const webhooksRouter = router({
  /** All endpoints of the team: it can have no more than one page of them. */
  list: inTeam("webhooks:read")
    .input(NoMore)
    .query(async ({ ctx }) => {
      const { rows } = await listWebhooks(ctx.service, { limit: endpointRows });
      const standings = await readStandings(
        ctx.service,
        rows.map(({ id }) => id),
      );
      const now = ctx.service.clock();
      return rows.flatMap((row) => {
        const standing = standings.get(row.id);
        return standing ? [viewEndpoint(row, standing, now)] : [];
      });
    }),
  get: inTeam("webhooks:read")
    .input(WebhookId)
    .query(async ({ ctx, input }) => viewOf(ctx.service, await getWebhook(ctx.service, known(input.id)))),
  /** Mail of unknown outcome, which `email.unknown` tells of and a person settles. */
  heldUnknown: inTeam("emails:read")
    .input(NoMore)
    .query(({ ctx }) => readHeldUnknown(ctx.service)),
  deliveries: inTeam("webhooks:read")
    .input(DeliveryList)
    .query(async ({ ctx, input: { id, status, type, after, before } }) => {
      const page = { limit: deliveryRows, status, type, after, before };
      const { rows, hasMore } = await listWebhookEvents(ctx.service, known(id), page);
      return { rows: rows.map(viewWebhookDelivery), hasMore };
    }),
  delivery: inTeam("webhooks:read")
    .input(EventId)
    .query(async ({ ctx, input }) => {
      const [id, event] = [known(input.id), known(input.event, "Webhook event")];
      const delivery = await getWebhookEvent(ctx.service, id, event);
      const calls = await listWebhookAttempts(ctx.service, id, event, { limit: callsShownMax });
      return viewWholeDelivery(delivery, calls);
    }),
  /** Receivers that check whether a call is ours, to be copied. */
  snippets: inTeam("webhooks:read")
    .input(NoMore)
    .query(() => VERIFY_SNIPPETS),
  /** The signing secret is told here and by `rotate`, and nowhere else in the console. */
  create: inTeam("webhooks:write")
    .input(z.strictObject({ team, url: Url, events: Names }))
    .mutation(({ ctx, input: { url, events } }) =>
      createWebhook(ctx.service, { url, events, status: "enabled" }),
    ),
  update: inTeam("webhooks:write")
    .input(WebhookId.extend({ url: Url.optional(), events: Names.optional(), status: Status.optional() }))
    .mutation(({ ctx, input: { id, url, events, status } }) =>
      updateWebhook(ctx.service, known(id), { url, events, status }),
    ),
  rotate: inTeam("webhooks:write")
    .input(WebhookId)
    .mutation(({ ctx, input }) => rotateSigningSecret(ctx.service, known(input.id))),
  remove: inTeam("webhooks:write")
    .input(WebhookId)
    .mutation(({ ctx, input }) => deleteWebhook(ctx.service, known(input.id))),
  test: inTeam("webhooks:write")
    .input(WebhookId.extend({ type: WebhookEventName }))
    .mutation(({ ctx, input: { id, type } }) => sendTestEvent(ctx.service, known(id), type)),
  replay: inTeam("webhooks:write")
    .input(EventId)
    .mutation(({ ctx, input }) =>
      replayWebhookEvent(ctx.service, known(input.id), known(input.event, "Webhook event")),
    ),
  /** How many events a replay would send again, before anybody asks for it. */
  countRange: inTeam("webhooks:read")
    .input(Range)
    .query(async ({ ctx, input: { team: _, id, ...range } }) => {
      const count = await countReplayRange(ctx.service, known(id), range, rangeCountedMax);
      return { count, isAtLeast: count === rangeCountedMax };
    }),
  /** Replays one part of a range; `nextSince` says where the next part begins, null after the last. */
  replayRange: inTeam("webhooks:write")
    .input(Range)
    .mutation(async ({ ctx, input: { team: _, id, ...range } }) => {
      const { count, nextSince } = await replayWebhookRange(ctx.service, known(id), range);
      return { count, nextSince: nextSince?.toISOString() ?? null };
    }),
});
