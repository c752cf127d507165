import { sql } from "drizzle-orm";
import { suppressions } from "#db/schema/suppressions";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { presentSuppression, type Suppression } from "#server/shared/wire/suppression";
import { recordAudit } from "../audit/record";
import { announce } from "../webhooks/events/announce";
import { isNamed, type SuppressionName } from "./read";
import { subjectOf } from "./suppress";

/**
 * Removes entries from the team's suppression list, all by id or all by address, with the webhooks for them.
 * Returns the entries that existed. New emails are sent to these addresses again; emails that were suppressed
 * before are not.
 */
export async function removeSuppressions(
  ctx: Ctx,
  names: readonly SuppressionName[],
): Promise<Suppression[]> {
  if (names.length === 0) return [];
  const removed = await ctx.db.transaction(async (tx) => {
    // Locked in one order first, so two callers with common entries cannot deadlock.
    const locked = await tx
      .select({ id: suppressions.id })
      .from(suppressions)
      .where(isNamed(ctx, names))
      .orderBy(sql`${suppressions.address} collate "C"`)
      .for("update");
    if (locked.length === 0) return [];
    const rows = await tx.delete(suppressions).where(isNamed(ctx, locked)).returning();
    await announce({ ...ctx, db: tx }, "suppression.removed", ...rows.map(presentSuppression));
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

/** The same for a single entry; 404 if it does not exist. */
export async function removeSuppression(ctx: Ctx, name: SuppressionName): Promise<Suppression> {
  const [removed] = await removeSuppressions(ctx, [name]);
  if (!removed) throw notFound("Suppression");
  return removed;
}
