import { and, eq } from "drizzle-orm";
import { type WEBHOOK_DELIVERY_STATUSES, webhookAttempts, webhookDeliveries } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import type { WebhookAttempt, WebhookDelivery } from "#server/shared/wire/webhook";
import { type Page, type PageQuery, pageById } from "../../paging";
import { getWebhook } from "../endpoints";
import { renderPayloads } from "./render";
import type { WebhookEvent } from "./types";

export type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];
export type WebhookEventFilter = { status?: WebhookDeliveryStatus; type?: WebhookEvent };

/** The event deliveries of an endpoint, newest first. */
export async function listWebhookEvents(
  ctx: Ctx,
  webhookId: string,
  query: PageQuery & WebhookEventFilter,
): Promise<Page<WebhookDelivery>> {
  await getWebhook(ctx, webhookId);
  const { status, type } = query;
  return pageById(
    ctx,
    webhookDeliveries,
    query,
    (where, order, limit) =>
      ctx.db
        .select()
        .from(webhookDeliveries)
        .where(
          and(
            where,
            status && eq(webhookDeliveries.status, status),
            type && eq(webhookDeliveries.type, type),
          ),
        )
        .orderBy(order)
        .limit(limit),
    eq(webhookDeliveries.webhookId, webhookId),
  );
}

/** One event delivery with its payload: as it was sent, or as it would be sent now. */
export async function getWebhookEvent(
  ctx: Ctx,
  webhookId: string,
  id: string,
): Promise<WebhookDelivery & { body: Record<string, unknown> }> {
  const delivery = await requireDelivery(ctx, webhookId, id);
  const payload = (await renderPayloads(ctx.hot, [delivery])).get(id);
  if (!payload) throw new AppError("not_found", "The email of this event is no longer retained.");
  return { ...delivery, body: JSON.parse(payload) };
}

/** The attempts of one event delivery, newest first. */
export async function listWebhookAttempts(
  ctx: Ctx,
  webhookId: string,
  id: string,
  query: PageQuery,
): Promise<Page<WebhookAttempt>> {
  await requireDelivery(ctx, webhookId, id);
  return pageById(
    ctx,
    webhookAttempts,
    query,
    (where, order, limit) => ctx.db.select().from(webhookAttempts).where(where).orderBy(order).limit(limit),
    eq(webhookAttempts.deliveryId, id),
  );
}

async function requireDelivery(ctx: Ctx, webhookId: string, id: string): Promise<WebhookDelivery> {
  const [delivery] = await ctx.db
    .select()
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.teamId, ctx.teamId),
        eq(webhookDeliveries.webhookId, webhookId),
        eq(webhookDeliveries.id, id),
      ),
    );
  if (!delivery) throw notFound("Webhook event");
  return delivery;
}
