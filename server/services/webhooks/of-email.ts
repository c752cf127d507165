import { and, asc, eq } from "drizzle-orm";
import { webhookAttempts, webhookDeliveries, webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { isId } from "#server/ids";

const toldMax = 200;

/** One endpoint's being told of one event of a mail, with the last call that was made for it. */
export type ToldEvent = {
  id: string;
  webhookId: string;
  url: string;
  type: string;
  status: (typeof webhookDeliveries.$inferSelect)["status"];
  attempts: number;
  dueAt: Date;
  createdAt: Date;
  /** Null before the first call. `fault` where no HTTP answer came. */
  last: { statusCode: number | null; fault: string | null; sentAt: Date; durationMs: number } | null;
};

/** Whom the events of a mail were told, oldest first: at most the first 200. A mail that is nobody's was told nobody. */
export async function listToldEvents(ctx: Ctx, emailId: string): Promise<ToldEvent[]> {
  if (!isId(emailId)) return [];
  const rows = await ctx.db
    .select({
      id: webhookDeliveries.id,
      webhookId: webhookDeliveries.webhookId,
      url: webhooks.url,
      type: webhookDeliveries.type,
      status: webhookDeliveries.status,
      attempts: webhookDeliveries.attempts,
      dueAt: webhookDeliveries.dueAt,
      createdAt: webhookDeliveries.createdAt,
    })
    .from(webhookDeliveries)
    .innerJoin(
      webhooks,
      and(eq(webhooks.teamId, webhookDeliveries.teamId), eq(webhooks.id, webhookDeliveries.webhookId)),
    )
    .where(and(eq(webhookDeliveries.teamId, ctx.teamId), eq(webhookDeliveries.emailId, emailId)))
    .orderBy(asc(webhookDeliveries.id))
    .limit(toldMax);
  const attempts = await ctx.db
    .select({
      deliveryId: webhookAttempts.deliveryId,
      statusCode: webhookAttempts.statusCode,
      fault: webhookAttempts.fault,
      sentAt: webhookAttempts.sentAt,
      durationMs: webhookAttempts.durationMs,
    })
    .from(webhookAttempts)
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.id, webhookAttempts.deliveryId))
    .where(
      and(
        eq(webhookAttempts.teamId, ctx.teamId),
        eq(webhookDeliveries.teamId, ctx.teamId),
        eq(webhookDeliveries.emailId, emailId),
      ),
    )
    .orderBy(asc(webhookAttempts.id));
  const last = new Map(attempts.map(({ deliveryId, ...attempt }) => [deliveryId, attempt]));
  return rows.map((row) => ({ ...row, last: last.get(row.id) ?? null }));
}
