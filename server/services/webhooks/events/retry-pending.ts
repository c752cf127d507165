import { sql } from "drizzle-orm";
import type { Ctx } from "#server/deps";
import { recordAudit } from "../../audit/record";
import { requireEnabled } from "./events";

/** Maximum number of events that one call makes due. */
const retriedMax = 5_000;

/**
 * Makes the waiting events of an endpoint due now, earliest due time first, and returns how many. Their
 * attempts still count, so the retry schedule continues. Events that a worker claims at the same time are not
 * changed. `hasMore` is set if more were pending than one call changes.
 */
export async function retryPendingEvents(
  ctx: Ctx,
  webhookId: string,
): Promise<{ count: number; hasMore: boolean }> {
  const { url } = await requireEnabled(ctx, webhookId);
  const count = await ctx.db.transaction(async (tx) => {
    const due = await tx.execute(sql`
      with pending as materialized (
        select id from webhook_deliveries
        where team_id = ${ctx.teamId} and webhook_id = ${webhookId} and status = 'pending' and due_at > now()
        order by due_at, id limit ${retriedMax} for no key update skip locked
      )
      update webhook_deliveries d set due_at = now() from pending
      where d.team_id = ${ctx.teamId} and d.id = pending.id
      returning d.id`);
    if (due.length > 0)
      await recordAudit(tx, ctx, {
        action: "webhook.retried",
        subject: { id: webhookId, name: url },
        detail: { count: due.length },
      });
    return due.length;
  });
  if (count > 0) ctx.wake();
  return { count, hasMore: count === retriedMax };
}
