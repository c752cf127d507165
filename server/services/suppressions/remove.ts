import { sql } from "drizzle-orm";
import { suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/errors";
import { recordAudit } from "../audit/record";
import { announceEach } from "../webhooks/announce";
import { subjectOf } from "./add";
import { type Suppression, suppressionJson } from "./present";
import { named, type SuppressionName } from "./read";

/**
 * Takes entries off the team's list, all named by id or all by address, with the webhooks that tell of it, and returns those
 * that were there. Mail from now on is sent to them again; what was set aside stays so.
 */
export async function removeSuppressions(
  ctx: Ctx,
  names: readonly SuppressionName[],
): Promise<Suppression[]> {
  if (names.length === 0) return [];
  const removed = await ctx.db.transaction(async (tx) => {
    const inside = { ...ctx, db: tx };
    // Locked in one order first, so that two callers who share entries never wait for each other in a circle.
    const held = await tx
      .select({ id: suppressions.id })
      .from(suppressions)
      .where(named(ctx, names))
      .orderBy(sql`${suppressions.address} collate "C"`)
      .for("update");
    if (held.length === 0) return [];
    const rows = await tx.delete(suppressions).where(named(ctx, held)).returning();
    await announceEach(inside, "suppression.removed", rows.map(suppressionJson));
    await recordAudit(tx, ctx, {
      action: "suppression.removed",
      ...subjectOf(rows),
      detail: { count: rows.length, origins: [...new Set(rows.map(({ origin }) => origin))] },
    });
    return rows;
  });
  if (removed.length > 0) ctx.wake();
  return removed;
}

/** The same for one, which must be there. */
export async function removeSuppression(ctx: Ctx, name: SuppressionName): Promise<Suppression> {
  const [removed] = await removeSuppressions(ctx, [name]);
  if (!removed) throw notFound("Suppression");
  return removed;
}
