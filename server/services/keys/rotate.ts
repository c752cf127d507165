import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import { apiKeyDomains, apiKeys } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { recordAudit } from "../audit/record";
import { capLimits, covers, lacksPower, powerOf, powerOfCaller } from "./grant";
import { alive, insertKey, type Key } from "./keys";

/** How long both tokens work, and at most. */
export const ROTATION = { overlapMs: 24 * 3_600_000, overlapMsMax: 7 * 24 * 3_600_000 } as const;

/**
 * Replaces a key by a new one with the same name, scopes, domains and expiry; the old one works for the overlap, or until
 * its own expiry where that is sooner. A key may rotate itself, and others that have no more than it has: else 403. Of the
 * limits the new key has at most the caller's. A key is replaced once; whoever wants another rotates its successor.
 */
export async function rotateKey(
  ctx: Ctx,
  id: string,
  { overlapMs = ROTATION.overlapMs }: { overlapMs?: number },
): Promise<{ key: Key; token: string; previousUntil: Date }> {
  return ctx.db.transaction(async (tx) => {
    const { teamId, actor } = ctx;
    // Both rows in one order: two keys that rotate each other must not wait in a circle.
    await tx
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(
        and(eq(apiKeys.teamId, teamId), inArray(apiKeys.id, actor.kind === "key" ? [id, actor.keyId] : [id])),
      )
      .orderBy(asc(apiKeys.id))
      .for("update");
    const [found] = await tx
      .select({ old: apiKeys, isExpired: sql<boolean>`coalesce(${apiKeys.expiresAt} <= now(), false)` })
      .from(apiKeys)
      .where(alive(ctx, id));
    if (!found) throw notFound("API key");
    const { old, isExpired } = found;
    if (isExpired) throw new AppError("conflict", "This key has expired. Make a new one.");
    const [successor] = await tx
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(eq(apiKeys.teamId, teamId), eq(apiKeys.rotatedFrom, id), isNull(apiKeys.revokedAt)));
    if (successor)
      throw new AppError("conflict", `This key was replaced by ${successor.id} already. Rotate that one.`);
    const caller = await powerOfCaller(tx, ctx);
    const power = await powerOf(tx, old);
    if (caller && !covers(caller, power)) throw lacksPower();

    const [shortened] = await tx
      .update(apiKeys)
      .set({
        expiresAt: sql`least(${apiKeys.expiresAt}, date_trunc('milliseconds', now() + ${overlapMs} * interval '1 ms'))`,
      })
      .where(alive(ctx, id))
      .returning({ expiresAt: apiKeys.expiresAt });
    if (!shortened?.expiresAt) throw new Error("a key lost its row while it was locked");
    const links = await tx
      .select({ id: domains.id, name: domains.name })
      .from(apiKeyDomains)
      .innerJoin(domains, eq(domains.id, apiKeyDomains.domainId))
      .where(and(eq(apiKeyDomains.teamId, teamId), eq(apiKeyDomains.apiKeyId, id)));
    const grant = { ...power, domains: links, limits: capLimits(old.limits, caller) };
    const made = await insertKey(tx, ctx, { name: old.name, grant, rotatedFrom: id });
    await recordAudit(tx, ctx, {
      action: "key.rotated",
      subject: { id, name: old.name },
      detail: { successor: made.key.id, works_until: shortened.expiresAt.toISOString() },
    });
    return { ...made, previousUntil: shortened.expiresAt };
  });
}
