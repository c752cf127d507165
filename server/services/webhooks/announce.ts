import { and, arrayContains, eq, sql } from "drizzle-orm";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { newId } from "#server/ids";
import type { AnnouncedEvent } from "./event-types";

/** Rows of one statement. */
const rowsMax = 5_000;

type Announcer = Pick<Ctx, "db" | "teamId" | "clock">;

/**
 * Puts an event into the outbox of each enabled endpoint of the team that asked for it. Call it in the transaction of the
 * change that it tells of (`announce({ ...ctx, db: tx }, …)`), so that both are there or neither; after the commit
 * `ctx.wake()` sends it at once. `data` is the event's own object in the form of the wire, well below 20 KB.
 */
export async function announce(
  ctx: Announcer,
  type: AnnouncedEvent,
  data: Record<string, unknown>,
): Promise<void> {
  await announceEach(ctx, type, [data]);
}

/** The same for many events of one kind, in their order. */
export async function announceEach(
  ctx: Announcer,
  type: AnnouncedEvent,
  each: readonly Record<string, unknown>[],
): Promise<void> {
  if (each.length === 0) return;
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
  const createdAt = ctx.clock().toISOString();
  const payloads = each.map((data) => JSON.stringify({ type, created_at: createdAt, data }));
  for (const endpoint of endpoints)
    for (let at = 0; at < payloads.length; at += rowsMax) {
      const part = payloads.slice(at, at + rowsMax);
      await ctx.db.execute(sql`
        insert into webhook_deliveries (id, team_id, webhook_id, type, payload)
        select id, ${ctx.teamId}::uuid, ${endpoint.id}::uuid, ${type}, payload
        from unnest(${sql.param(part.map(newId))}::uuid[], ${sql.param(part)}::text[]) as e(id, payload)`);
    }
}
