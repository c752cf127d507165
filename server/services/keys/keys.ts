import { and, desc, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeyDomains, apiKeys, type OwnLimits } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { mintToken } from "#server/platform/secrets/secrets";
import { recordAudit } from "../audit/record";
import { type Grant, type GrantRequest, permissionsOfCaller, resolveGrant } from "./grant";
import { changeKeys } from "./transaction";

/** Only the operator may set an expiry in the past; such a key is rejected from the start. */
export type NewKey = GrantRequest & { name: string };

export type Key = {
  id: string;
  tokenId: string;
  name: string;
  scopes: string[];
  /** Domain names. */
  domains: string[] | "all";
  limits: OwnLimits;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
};

/**
 * Creates a key and returns its token, which is not available later: only a hash is stored. A calling key can
 * grant at most its own permissions, see `resolveGrant`.
 */
export async function createKey(ctx: Ctx, input: NewKey): Promise<{ key: Key; token: string }> {
  if (ctx.actor.kind !== "operator" && input.expiresAt && input.expiresAt <= ctx.clock())
    throw new AppError("invalid", "Invalid `expires_at`: it is in the past. Use a future time, or omit it.");
  return ctx.db.transaction(async (tx) => {
    const grant = await resolveGrant(tx, ctx, await permissionsOfCaller(tx, ctx), input);
    const made = await insertKey(tx, ctx, { name: input.name, grant, rotatedFrom: null });
    const { id, name, scopes, domains, expiresAt } = made.key;
    await recordAudit(tx, ctx, {
      action: "key.created",
      subject: { id, name },
      detail: {
        scopes,
        domains,
        expires_at: expiresAt?.toISOString() ?? null,
        ...limitsDetail(grant.limits),
      },
    });
    return made;
  });
}

const limitsDetail = (limits: OwnLimits) =>
  Object.fromEntries(Object.entries(limits).map(([tier, number]) => [`limit ${tier}`, number]));

/** Inserts a key with its links. The caller has already checked the grant. */
export async function insertKey(
  tx: Db,
  ctx: Ctx,
  { name, grant, rotatedFrom }: { name: string; grant: Grant; rotatedFrom: string | null },
): Promise<{ key: Key; token: string }> {
  const { token, tokenId, secretHash } = mintToken();
  const { scopes, allDomains, expiresAt, limits } = grant;
  const { teamId } = ctx;
  const id = newId();
  const [row] = await tx
    .insert(apiKeys)
    .values({
      id,
      teamId,
      name,
      tokenId,
      secretHash,
      scopes: [...scopes],
      allDomains,
      expiresAt,
      limits,
      rotatedFrom,
    })
    .returning();
  if (!row) throw new Error("an insert returned no row");
  await insertLinks(tx, ctx, id, grant.domains);
  const names = grant.domains.map((domain) => domain.name);
  return { key: toKey(row, names), token };
}

/** Links a key to domains that it is not linked to yet. */
export async function insertLinks(
  tx: Db,
  { teamId }: Ctx,
  apiKeyId: string,
  domains: readonly { id: string }[],
): Promise<void> {
  if (domains.length > 0)
    await tx.insert(apiKeyDomains).values(domains.map(({ id }) => ({ teamId, apiKeyId, domainId: id })));
}

/** The team's keys that are not revoked, newest first. */
export async function listKeys(ctx: Ctx): Promise<Key[]> {
  const rows = await ctx.db
    .select({
      key: apiKeys,
      // Qualified by hand: in a statement with one table Drizzle omits the table name, also inside this
      // subquery.
      names: sql<string[]>`array(select d.name from ${domains} d join ${apiKeyDomains} l on l.domain_id = d.id
        where l.api_key_id = api_keys.id and d.team_id = api_keys.team_id order by d.name)`,
    })
    .from(apiKeys)
    .where(and(eq(apiKeys.teamId, ctx.teamId), isNull(apiKeys.revokedAt)))
    .orderBy(desc(apiKeys.id));
  return rows.map(({ key, names }) => toKey(key, names));
}

/** Renames a key. */
export async function renameKey(ctx: Ctx, id: string, name: string): Promise<{ id: string }> {
  return ctx.db.transaction(async (tx) => {
    const [before] = await tx
      .select({ name: apiKeys.name })
      .from(apiKeys)
      .where(isActiveKey(ctx, id))
      .for("no key update");
    if (!before) throw notFound("API key");
    await tx.update(apiKeys).set({ name }).where(isActiveKey(ctx, id));
    if (before.name !== name)
      await recordAudit(tx, ctx, {
        action: "key.renamed",
        subject: { id, name },
        detail: { before: before.name },
      });
    return { id };
  });
}

/**
 * Revokes a key. This process rejects it immediately, other processes as soon as they receive the
 * notification.
 */
export async function revokeKey(ctx: Ctx, id: string): Promise<{ id: string }> {
  return changeKeys(ctx, async (tx) => {
    const [revoked] = await tx
      .update(apiKeys)
      .set({ revokedAt: sql`now()` })
      .where(isActiveKey(ctx, id))
      .returning({ name: apiKeys.name });
    if (!revoked) throw notFound("API key");
    await recordAudit(tx, ctx, { action: "key.revoked", subject: { id, name: revoked.name } });
    return { id };
  });
}

/** The condition for a key of the team that is not revoked. */
export const isActiveKey = (ctx: Ctx, id: string) =>
  and(eq(apiKeys.teamId, ctx.teamId), eq(apiKeys.id, id), isNull(apiKeys.revokedAt));

/** The public fields of a key; `names` are the names of its domains. */
export function toKey(row: typeof apiKeys.$inferSelect, names: string[]): Key {
  return {
    id: row.id,
    tokenId: row.tokenId,
    name: row.name,
    scopes: row.scopes,
    domains: row.allDomains ? "all" : names,
    limits: row.limits,
    expiresAt: row.expiresAt,
    lastUsedAt: row.lastUsedAt,
    createdAt: row.createdAt,
  };
}
