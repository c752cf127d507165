import { and, asc, eq } from "drizzle-orm";
import { webhookAttempts, webhookDeliveries, webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { isId } from "#server/platform/ids";

const deliveriesMax = 200;

/** The delivery of one event of an email to one endpoint, with its last attempt. */
export type EmailEventDelivery = {
  id: string;
  webhookId: string;
  url: string;
  type: string;
  status: (typeof webhookDeliveries.$inferSelect)["status"];
  attempts: number;
  dueAt: Date;
  createdAt: Date;
  /** Null before the first attempt. `fault` is set if there was no HTTP response. */
  last: { statusCode: number | null; fault: string | null; sentAt: Date; durationMs: number } | null;
};

/**
 * The event deliveries of an email, oldest first: at most the first 200. Empty for an email of another team.
 */
export async function listEmailEventDeliveries(ctx: Ctx, emailId: string): Promise<EmailEventDelivery[]> {
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
    .limit(deliveriesMax);
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
