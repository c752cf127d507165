import { and, asc, eq, getTableColumns } from "drizzle-orm";
import { webhookAttempts, webhookDeliveries, webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { isId } from "#server/platform/ids";

const deliveriesMax = 200;

/**
 * The event deliveries of an email, oldest first: at most the first 200, `hasMore` if there are more. Empty
 * for an email of another team.
 * `last` is the last attempt, or null before the first one; its `fault` is set if there was no HTTP response.
 */
export async function listEmailEventDeliveries(ctx: Ctx, emailId: string) {
  if (!isId(emailId)) return { rows: [], hasMore: false };
  const { id, webhookId, eventId, type, status, attempts, dueAt, createdAt } =
    getTableColumns(webhookDeliveries);
  const rows = await ctx.db
    .select({ id, webhookId, eventId, url: webhooks.url, type, status, attempts, dueAt, createdAt })
    .from(webhookDeliveries)
    .innerJoin(
      webhooks,
      and(eq(webhooks.teamId, webhookDeliveries.teamId), eq(webhooks.id, webhookDeliveries.webhookId)),
    )
    .where(and(eq(webhookDeliveries.teamId, ctx.teamId), eq(webhookDeliveries.emailId, emailId)))
    .orderBy(asc(webhookDeliveries.id))
    .limit(deliveriesMax + 1);
  const { deliveryId, statusCode, fault, sentAt, durationMs } = getTableColumns(webhookAttempts);
  const made = await ctx.db
    .select({ deliveryId, statusCode, fault, sentAt, durationMs })
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
  const last = new Map(made.map(({ deliveryId, ...attempt }) => [deliveryId, attempt]));
  return {
    rows: rows.slice(0, deliveriesMax).map((row) => ({ ...row, last: last.get(row.id) ?? null })),
    hasMore: rows.length > deliveriesMax,
  };
}

/** The delivery of one event of an email to one endpoint, with its last attempt. */
export type EmailEventDelivery = Awaited<ReturnType<typeof listEmailEventDeliveries>>["rows"][number];
