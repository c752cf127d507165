import { and, lte, ne, sql } from "drizzle-orm";
import { domains } from "#db/schema/domains";
import type { Ctx, Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { recordAudit } from "../../audit/record";
import { announceDomain } from "../announce";
import { findDomain, isDomain } from "../read";

/** A claim that is not verified after this many days is deleted. */
export const claimDays = 7;

/** When a claim that is added now expires. */
export const claimExpiry = sql`now() + ${claimDays} * interval '1 day'`;

/**
 * Deletes up to `limit` expired claims that were never verified, as their teams could. A domain that was
 * verified once does not expire.
 */
export async function expireClaims(deps: Deps, limit: number): Promise<void> {
  const isExpired = and(lte(domains.expiresAt, sql`now()`), ne(domains.status, "verified"));
  const expired = await deps.db.transaction(async (tx) => {
    const over = await tx
      .select({ id: domains.id, teamId: domains.teamId })
      .from(domains)
      .where(isExpired)
      .orderBy(domains.expiresAt)
      .limit(limit)
      .for("update", { skipLocked: true });
    for (const { id, teamId } of over) {
      const actor = { kind: "system" as const };
      const ctx: Ctx = { ...deps, db: tx, teamId, actor, requestId: newId() };
      const domain = await findDomain(ctx, id);
      await tx.delete(domains).where(isDomain(ctx, id));
      await recordAudit(tx, ctx, { action: "domain.expired", subject: domain });
      await announceDomain(ctx, "domain.deleted", domain);
    }
    return over.length;
  });
  if (expired > 0) deps.wake();
}
