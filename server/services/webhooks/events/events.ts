import { and, asc, count, eq, gt, gte, inArray, lt, ne, or, sql } from "drizzle-orm";
import { z } from "zod";
import { type WEBHOOK_DELIVERY_STATUSES, webhookAttempts, webhookDeliveries } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { AppError, invalidField, notFound } from "#server/platform/errors";
import type { Webhook, WebhookAttempt, WebhookDelivery } from "#server/shared/wire/webhook";
import { type Command, recordAudit } from "../../audit/record";
import { type Page, type PageQuery, pageById } from "../../paging";
import { encodePosition, parsePosition } from "../../parts";
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
  return pageById(ctx, webhookDeliveries, query, {
    select: () => ctx.db.select().from(webhookDeliveries).$dynamic(),
    within: eq(webhookDeliveries.webhookId, webhookId),
    where: and(status && eq(webhookDeliveries.status, status), type && eq(webhookDeliveries.type, type)),
  });
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
  return pageById(ctx, webhookAttempts, query, {
    select: () => ctx.db.select().from(webhookAttempts).$dynamic(),
    within: eq(webhookAttempts.deliveryId, id),
  });
}

const isDelivery = ({ teamId }: Ctx, webhookId: string, id: string) =>
  and(
    eq(webhookDeliveries.teamId, teamId),
    eq(webhookDeliveries.webhookId, webhookId),
    eq(webhookDeliveries.id, id),
  );

async function requireDelivery(ctx: Ctx, webhookId: string, id: string): Promise<WebhookDelivery> {
  const [delivery] = await ctx.db
    .select()
    .from(webhookDeliveries)
    .where(isDelivery(ctx, webhookId, id));
  if (!delivery) throw notFound("Webhook event");
  return delivery;
}

/** Maximum number of events that one call replays. */
const replayedMax = 5_000;

export type ReplayRange = {
  since: Date;
  until: Date | null;
  /** Which event deliveries to replay: `unfinished` is failed and pending. */
  status: "failed" | "unfinished" | "success";
  type: WebhookEvent | null;
};

const REPLAYED: Record<ReplayRange["status"], WebhookDeliveryStatus[]> = {
  failed: ["failed"],
  unfinished: ["failed", "pending"],
  success: ["success"],
};

/**
 * A new round: due now, with the full retry schedule. Id and body stay the same, so receivers can detect the
 * duplicate.
 */
const NEW_ROUND = { status: "pending" as const, attempts: 0, dueAt: sql`now()` };

/** Not already in a new round that has not begun: a call for the next events would find it again. */
const isReplayable = (status: ReplayRange["status"]) =>
  and(
    inArray(webhookDeliveries.status, REPLAYED[status]),
    or(
      ne(webhookDeliveries.status, "pending"),
      gt(webhookDeliveries.attempts, 0),
      gt(webhookDeliveries.dueAt, sql`now()`),
    ),
  );

/** Sends one event again, regardless of its earlier outcome. */
export async function replayWebhookEvent(ctx: Ctx, webhookId: string, id: string): Promise<{ id: string }> {
  const { url } = await requireEnabled(ctx, webhookId);
  const mine = isDelivery(ctx, webhookId, id);
  await ctx.db.transaction(async (tx) => {
    const [replayed] = await tx
      .update(webhookDeliveries)
      .set(NEW_ROUND)
      .where(and(mine, ne(webhookDeliveries.status, "attempting")))
      .returning({ type: webhookDeliveries.type });
    if (!replayed) {
      const [found] = await tx.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(mine);
      if (!found) throw notFound("Webhook event");
      throw new AppError("conflict", "This event is being sent right now. Check its attempts in a moment.");
    }
    await recordAudit(tx, ctx, {
      action: "webhook.replayed",
      subject: { id: webhookId, name: url },
      detail: { event: id, type: replayed.type, count: 1 },
    });
  });
  ctx.wake();
  return { id };
}

/** The creation time of the next event, and the entry of the replay in the audit log. */
const Position = z.object({ from: z.coerce.date(), entryId: z.uuid().nullable() });

/**
 * Replays the event deliveries of a time range, oldest first. Returns how many; if there are more than one
 * call replays, `nextSince` is the start of the next range, and `next` continues this replay: all its calls
 * are one entry of the audit log, with the whole range and the sum. AppError `invalid` if the argument
 * `next` is not that of an earlier call.
 */
export async function replayWebhookRange(
  ctx: Ctx,
  webhookId: string,
  range: ReplayRange,
  next: string | null = null,
): Promise<{ count: number; nextSince: Date | null; next: string | null }> {
  const { url } = await requireEnabled(ctx, webhookId);
  const { since, until, status, type } = range;
  const { from, ...command }: { from: Date } & Command = parsePosition(Position, next, {
    start: { from: since, entryId: null },
    message: "Start the replay again: its position is not valid.",
  });
  const found = await ctx.db
    .select({ id: webhookDeliveries.id, createdAt: webhookDeliveries.createdAt })
    .from(webhookDeliveries)
    .where(and(inRange(ctx, webhookId, range), gte(webhookDeliveries.createdAt, from)))
    // Sorted by time because `nextSince` is a time: the ids of concurrent transactions may be in another
    // order.
    .orderBy(asc(webhookDeliveries.createdAt), asc(webhookDeliveries.id))
    .limit(replayedMax + 1);
  const ids = found.slice(0, replayedMax).map(({ id }) => id);
  if (ids.length === 0) return { count: 0, nextSince: null, next: null };
  const replayedCount = await ctx.db.transaction(async (tx) => {
    // Rows are always locked in the order of their ids, to avoid deadlocks.
    await tx
      .select({ id: webhookDeliveries.id })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.teamId, ctx.teamId), inArray(webhookDeliveries.id, ids)))
      .orderBy(asc(webhookDeliveries.id))
      .for("no key update");
    const replayed = await tx
      .update(webhookDeliveries)
      .set(NEW_ROUND)
      .where(
        and(
          eq(webhookDeliveries.teamId, ctx.teamId),
          inArray(webhookDeliveries.id, ids),
          isReplayable(status),
        ),
      )
      .returning({ id: webhookDeliveries.id });
    if (replayed.length > 0)
      await recordAudit(tx, ctx, {
        action: "webhook.replayed",
        subject: { id: webhookId, name: url },
        detail: { status, type, since: since.toISOString(), until: until?.toISOString() ?? null },
        counts: { count: replayed.length },
        command,
      });
    return replayed.length;
  });
  ctx.wake();
  const nextSince = found[replayedMax]?.createdAt ?? null;
  return {
    count: replayedCount,
    nextSince,
    next: nextSince && encodePosition({ from: nextSince, ...command }),
  };
}

/** How many events a replay of that range would send again, counted up to `max`. */
export async function countReplayRange(
  ctx: Ctx,
  webhookId: string,
  range: ReplayRange,
  max: number,
): Promise<number> {
  await getWebhook(ctx, webhookId);
  const some = ctx.db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(inRange(ctx, webhookId, range))
    .limit(max)
    .as("some");
  const [row] = await ctx.db.select({ events: count() }).from(some);
  return row?.events ?? 0;
}

function inRange(ctx: Ctx, webhookId: string, { since, until, status, type }: ReplayRange) {
  if (until !== null && until <= since)
    throw invalidField("until", "it must be later than `since`.", "it must be later than the start.");
  return and(
    eq(webhookDeliveries.teamId, ctx.teamId),
    eq(webhookDeliveries.webhookId, webhookId),
    isReplayable(status),
    gte(webhookDeliveries.createdAt, since),
    until === null ? undefined : lt(webhookDeliveries.createdAt, until),
    type === null ? undefined : eq(webhookDeliveries.type, type),
  );
}

/** The endpoint. Throws 409 if it is disabled, because a disabled endpoint is never called. */
export async function requireEnabled(ctx: Ctx, webhookId: string): Promise<Webhook> {
  const webhook = await getWebhook(ctx, webhookId);
  if (webhook.status !== "enabled")
    throw new AppError("conflict", "The endpoint is disabled. Enable it first.");
  return webhook;
}
