import { and, asc, eq, gte, inArray, lt, ne, sql } from "drizzle-orm";
import { webhookDeliveries } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { getWebhook, type Webhook } from "./endpoints";
import type { WebhookEvent } from "./event-types";

/** Events that one call replays at most. */
const replayedMax = 5_000;

export type ReplayRange = {
  since: Date;
  until: Date | null;
  /** Which of them: those that were given up, or those that were taken. */
  status: "failed" | "success";
  type: WebhookEvent | null;
};

/** A new round: due now, with the whole retry schedule ahead. Id and body stay, so that receivers know it again. */
const ANEW = { status: "pending" as const, attempts: 0, dueAt: sql`now()` };

/** Sends one event again, whatever came of it before. */
export async function replayWebhookEvent(ctx: Ctx, webhookId: string, id: string): Promise<{ id: string }> {
  await requireEnabled(ctx, webhookId);
  const mine = and(
    eq(webhookDeliveries.teamId, ctx.teamId),
    eq(webhookDeliveries.webhookId, webhookId),
    eq(webhookDeliveries.id, id),
  );
  const [replayed] = await ctx.db
    .update(webhookDeliveries)
    .set(ANEW)
    .where(and(mine, ne(webhookDeliveries.status, "attempting")))
    .returning({ id: webhookDeliveries.id });
  if (!replayed) {
    const [found] = await ctx.db.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(mine);
    if (!found) throw notFound("Webhook event");
    throw new AppError("conflict", "This event is being sent just now. Look at its attempts in a moment.");
  }
  ctx.wake();
  return replayed;
}

/**
 * Sends again what an endpoint was told in a span of time, oldest first. Tells how many; where there are more than one call
 * takes, `nextSince` is where the next one begins.
 */
export async function replayWebhookRange(
  ctx: Ctx,
  webhookId: string,
  range: ReplayRange,
): Promise<{ count: number; nextSince: Date | null }> {
  await requireEnabled(ctx, webhookId);
  const { since, until, status, type } = range;
  if (until !== null && until <= since)
    throw new AppError("invalid", "Invalid `until`: it must be later than `since`.");
  const found = await ctx.db
    .select({ id: webhookDeliveries.id, createdAt: webhookDeliveries.createdAt })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.teamId, ctx.teamId),
        eq(webhookDeliveries.webhookId, webhookId),
        eq(webhookDeliveries.status, status),
        gte(webhookDeliveries.createdAt, since),
        until === null ? undefined : lt(webhookDeliveries.createdAt, until),
        type === null ? undefined : eq(webhookDeliveries.type, type),
      ),
    )
    .orderBy(asc(webhookDeliveries.id))
    .limit(replayedMax + 1);
  const ids = found.slice(0, replayedMax).map(({ id }) => id);
  if (ids.length === 0) return { count: 0, nextSince: null };
  const replayed = await ctx.db
    .update(webhookDeliveries)
    .set(ANEW)
    .where(
      and(
        eq(webhookDeliveries.teamId, ctx.teamId),
        inArray(webhookDeliveries.id, ids),
        eq(webhookDeliveries.status, status),
      ),
    )
    .returning({ id: webhookDeliveries.id });
  ctx.wake();
  return { count: replayed.length, nextSince: found[replayedMax]?.createdAt ?? null };
}

/** The endpoint; a disabled one is called by nothing, so whoever wants it called is told. */
export async function requireEnabled(ctx: Ctx, webhookId: string): Promise<Webhook> {
  const webhook = await getWebhook(ctx, webhookId);
  if (webhook.status !== "enabled")
    throw new AppError("conflict", "The endpoint is disabled. Enable it first.");
  return webhook;
}
