import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import { apiKeys } from "#db/schema/api-keys";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { dayMs } from "#server/shared/durations";
import type { ApiKey } from "#server/shared/wire/api-key";
import { recordAudit } from "../audit/record";
import { lockTeam } from "../lock-team";
import { capLimits, isActiveKey, permissionsOf, permissionsOfCaller, requirePermissions } from "./grant";
import { changeKeys, insertKey } from "./keys";

/** How long both tokens work: default and maximum. */
export const ROTATION = { overlapMs: dayMs, overlapMsMax: 7 * dayMs } as const;

/**
 * Replaces a key by a new one with the same name, scopes, domains and expiry. The old key works for the
 * overlap, or until its own expiry if that is sooner. A key may rotate itself and keys with no more
 * permissions than its own; otherwise 403. The limits of the new key are at most those of the caller. A key
 * is replaced once; to rotate again, rotate its successor.
 */
export async function rotateKey(
  ctx: Ctx,
  id: string,
  { overlapMs = ROTATION.overlapMs }: { overlapMs?: number },
): Promise<{ key: ApiKey; token: string; previousUntil: Date }> {
  return changeKeys(ctx, async (tx) => {
    const { teamId, actor } = ctx;
    await lockTeam(tx, teamId);
    // Both rows are locked in a fixed order, so two keys that rotate each other cannot deadlock.
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
      .where(isActiveKey(ctx, id));
    if (!found) throw notFound("API key");
    const { old, isExpired } = found;
    if (isExpired) throw new AppError("conflict", "This key has expired. Create a new one.");
    const [successor] = await tx
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(eq(apiKeys.teamId, teamId), eq(apiKeys.rotatedFrom, id), isNull(apiKeys.revokedAt)));
    if (successor)
      throw new AppError("conflict", `This key was already replaced by ${successor.id}. Rotate that one.`);
    const caller = await permissionsOfCaller(tx, ctx);
    const permissions = await permissionsOf(tx, old);
    if (caller) requirePermissions(caller, permissions);

    const [shortened] = await tx
      .update(apiKeys)
      .set({
        expiresAt: sql`least(${apiKeys.expiresAt}, date_trunc('milliseconds', now() + ${overlapMs} * interval '1 ms'))`,
      })
      .where(isActiveKey(ctx, id))
      .returning({ expiresAt: apiKeys.expiresAt });
    if (!shortened?.expiresAt) throw new Error("a locked key was not found");
    const { familyId, name, ...granted } = permissions;
    const grant = { ...granted, limits: capLimits(old.limits, caller) };
    const made = await insertKey(tx, ctx, { name, grant, familyId, rotatedFrom: id });
    await recordAudit(tx, ctx, {
      action: "key.rotated",
      subject: { id, name: old.name },
      detail: { successor: made.key.id, works_until: shortened.expiresAt.toISOString() },
    });
    return { ...made, previousUntil: shortened.expiresAt };
  });
}
