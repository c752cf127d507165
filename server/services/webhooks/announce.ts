import { and, arrayContains, eq } from "drizzle-orm";
import { webhookDeliveries, webhooks } from "#db/schema/webhooks";
import type { Ctx } from "#server/deps";
import { newId } from "#server/ids";
import type { AnnouncedEvent } from "./event-types";

/** Rows of one statement, whose parameters PostgreSQL counts in 16 bits. */
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
  const rows = endpoints.flatMap((endpoint) =>
    each.map((data) => ({
      id: newId(),
      teamId: ctx.teamId,
      webhookId: endpoint.id,
      type,
      payload: JSON.stringify({ type, created_at: createdAt, data }),
    })),
  );
  for (let at = 0; at < rows.length; at += rowsMax)
    await ctx.db.insert(webhookDeliveries).values(rows.slice(at, at + rowsMax));
}
