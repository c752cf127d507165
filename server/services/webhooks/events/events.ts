import { and, asc, desc, eq, gt, lt } from "drizzle-orm";
import { type WEBHOOK_DELIVERY_STATUSES, webhookAttempts, webhookDeliveries } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import type { WebhookAttempt, WebhookDelivery } from "#server/shared/wire/webhook";
import { type Page, type PageQuery, pageOf, requireCursor } from "../../paging";
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
  await requireCursor(ctx, webhookDeliveries, query, eq(webhookDeliveries.webhookId, webhookId));
  const { status, type } = query;
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
      .from(webhookDeliveries)
      .where(
        and(
          eq(webhookDeliveries.teamId, ctx.teamId),
          eq(webhookDeliveries.webhookId, webhookId),
          status && eq(webhookDeliveries.status, status),
          type && eq(webhookDeliveries.type, type),
          cursor &&
            (cursor.direction === "older"
              ? lt(webhookDeliveries.id, cursor.id)
              : gt(webhookDeliveries.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(webhookDeliveries.id) : asc(webhookDeliveries.id))
      .limit(limit),
  );
}

/** One event delivery with its payload: as it was sent, or as it would be sent now. */
export async function getWebhookEvent(
  ctx: Ctx,
  webhookId: string,
  id: string,
): Promise<WebhookDelivery & { body: Record<string, unknown> }> {
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
  await requireCursor(ctx, webhookAttempts, query, eq(webhookAttempts.deliveryId, id));
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select()
      .from(webhookAttempts)
      .where(
        and(
          eq(webhookAttempts.teamId, ctx.teamId),
          eq(webhookAttempts.deliveryId, id),
          cursor &&
            (cursor.direction === "older"
              ? lt(webhookAttempts.id, cursor.id)
              : gt(webhookAttempts.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(webhookAttempts.id) : asc(webhookAttempts.id))
      .limit(limit),
  );
}

async function requireDelivery(ctx: Ctx, webhookId: string, id: string): Promise<void> {
  const [delivery] = await ctx.db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.teamId, ctx.teamId),
        eq(webhookDeliveries.webhookId, webhookId),
        eq(webhookDeliveries.id, id),
      ),
    );
  if (!delivery) throw notFound("Webhook event");
}
