import { sql } from "drizzle-orm";
import { z } from "zod";
import type { Ctx } from "#server/deps";
import { firstId } from "#server/platform/ids";
import { type Command, recordAudit } from "../../audit/record";
import { encodePosition, parsePosition } from "../../parts";
import { requireEnabled } from "./events";

/** Maximum number of events that one call makes due. */
const retriedMax = 5_000;

/** The last event that was made due, and the entry of the command in the audit log. */
const Position = z.object({ after: z.uuid(), entryId: z.uuid().nullable() });

/**
 * Makes the waiting events of an endpoint due now, oldest first, and returns how many. Their attempts still
 * count, so the retry schedule continues. Events that a worker claims at the same time are not changed.
 * `next` continues with the next call and is null at the end: no event is made due twice even if it fails
 * again, and all calls are one entry of the audit log. AppError `invalid` if `from` is not `next` of an
 * earlier call.
 */
export async function retryPendingEvents(
  ctx: Ctx,
  webhookId: string,
  from: string | null = null,
): Promise<{ count: number; next: string | null }> {
  const { url } = await requireEnabled(ctx, webhookId);
  const { after, ...command }: { after: string } & Command = parsePosition(Position, from, {
    start: { after: firstId, entryId: null },
    message: "Start the retry again: its position is not valid.",
  });
  const due = await ctx.db.transaction(async (tx) => {
    const rows = await tx.execute<{ id: string }>(sql`
      with pending as materialized (
        select id from webhook_deliveries
        where team_id = ${ctx.teamId} and webhook_id = ${webhookId} and status = 'pending' and due_at > now()
          and id > ${after}
        order by id limit ${retriedMax} for no key update skip locked
      ), due as (
        update webhook_deliveries d set due_at = now() from pending
        where d.team_id = ${ctx.teamId} and d.id = pending.id
        returning d.id
      )
      select id from due order by id`);
    if (rows.length > 0)
      await recordAudit(tx, ctx, {
        action: "webhook.retried",
        subject: { id: webhookId, name: url },
        counts: { count: rows.length },
        command,
      });
    return rows;
  });
  if (due.length > 0) ctx.wake();
  const last = due.length === retriedMax ? due.at(-1) : undefined;
  return { count: due.length, next: last ? encodePosition({ after: last.id, ...command }) : null };
}
