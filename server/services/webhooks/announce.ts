import { and, arrayContains, eq } from "drizzle-orm";
import { webhookDeliveries, webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { newId } from "#server/ids";
import type { AnnouncedEvent } from "./event-types";

/**
 * Puts an event into the outbox of each enabled endpoint of the team that asked for it. Call it in the transaction of the
 * change that it tells of (`announce({ ...ctx, db: tx }, …)`), so that both are there or neither; after the commit
 * `ctx.wake()` sends it at once. `data` is the event's own object in the form of the wire, well below 20 KB.
 */
export async function announce(
  ctx: Pick<Ctx, "db" | "teamId" | "clock">,
  type: AnnouncedEvent,
  data: Record<string, unknown>,
): Promise<void> {
  const endpoints = await ctx.db
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(
      and(
        eq(webhooks.teamId, ctx.teamId),
        eq(webhooks.status, "enabled"),
        arrayContains(webhooks.events, [type]),
      ),
    )
    .for("key share");
  if (endpoints.length === 0) return;
  const payload = JSON.stringify({ type, created_at: ctx.clock().toISOString(), data });
  await ctx.db
    .insert(webhookDeliveries)
    .values(endpoints.map(({ id }) => ({ id: newId(), teamId: ctx.teamId, webhookId: id, type, payload })));
}
