import { and, arrayContains, eq, sql } from "drizzle-orm";
import { webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { newId } from "#server/platform/ids";
import { eventPayload } from "./payload";
import type { AnnouncedEvent } from "./types";

/** Maximum rows per statement. */
const rowsMax = 5_000;

/** The condition for the enabled endpoints of the team that subscribe to a type. */
export const subscribesTo = ({ teamId }: Pick<Ctx, "teamId">, type: string) =>
  and(eq(webhooks.teamId, teamId), eq(webhooks.status, "enabled"), arrayContains(webhooks.events, [type]));

type Announcer = Pick<Ctx, "db" | "teamId" | "clock">;

/**
 * Queues events of one type, in order, for each enabled endpoint of the team that subscribes to it. Call it
 * in the transaction of the change (`announce({ ...ctx, db: tx }, …)`), so that both commit together; after
 * the commit call `ctx.wake()` to send them immediately. `each` are the events' objects in wire format, well
 * below 20 KB.
 */
export async function announce(
  ctx: Announcer,
  type: AnnouncedEvent,
  ...each: readonly Record<string, unknown>[]
): Promise<void> {
  if (each.length === 0) return;
  const endpoints = await ctx.db
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(subscribesTo(ctx, type))
    .for("key share");
  const createdAt = ctx.clock();
  const payloads = each.map((data) => eventPayload(type, createdAt, data));
  for (const endpoint of endpoints)
    for (let at = 0; at < payloads.length; at += rowsMax) {
      const part = payloads.slice(at, at + rowsMax);
      await ctx.db.execute(sql`
        insert into webhook_deliveries (id, team_id, webhook_id, type, payload)
        select id, ${ctx.teamId}::uuid, ${endpoint.id}::uuid, ${type}, payload
        from unnest(${sql.param(part.map(newId))}::uuid[], ${sql.param(part)}::text[]) as e(id, payload)`);
    }
}
