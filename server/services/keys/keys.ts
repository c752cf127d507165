import { and, desc, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { apiKeyDomains, apiKeys, type OwnLimits } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import { mintToken } from "#server/secrets";
import { recordAudit } from "../audit/record";
import { type Grant, powerOfCaller, settleGrant, type Wish } from "./grant";

/** An expiry in the past is the operator's to give: such a key is refused from the start. */
export type NewKey = Wish & { name: string };

export type Key = {
  id: string;
  tokenId: string;
  name: string;
  scopes: string[];
  /** Names. */
  domains: string[] | "all";
  limits: OwnLimits;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
};

/**
 * Makes a key and tells its token, this once: only a hash is kept. A key that makes one hands on at most what it has
 * itself; `settleGrant` says how each excess is refused.
 */
export async function createKey(ctx: Ctx, input: NewKey): Promise<{ key: Key; token: string }> {
  if (ctx.actor.kind !== "operator" && input.expiresAt && input.expiresAt <= ctx.clock())
    throw new AppError("invalid", "Invalid `expires_at`: it lies in the past. Give a time to come, or none.");
  return ctx.db.transaction(async (tx) => {
    const grant = await settleGrant(tx, ctx, await powerOfCaller(tx, ctx), input);
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

/** Writes a key with its links. The caller has settled what it may do. */
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
  if (grant.domains.length > 0)
    await tx
      .insert(apiKeyDomains)
      .values(grant.domains.map((domain) => ({ teamId, apiKeyId: id, domainId: domain.id })));
  const names = grant.domains.map((domain) => domain.name);
  return { key: present(row, names), token };
}

/** The team's keys that are not revoked, newest first. */
export async function listKeys(ctx: Ctx): Promise<Key[]> {
  const rows = await ctx.db
    .select({
      key: apiKeys,
      // Named in full: where a statement has one table, Drizzle leaves its name out, also in here.
      names: sql<string[]>`array(select d.name from ${domains} d join ${apiKeyDomains} l on l.domain_id = d.id
        where l.api_key_id = api_keys.id and d.team_id = api_keys.team_id order by d.name)`,
    })
    .from(apiKeys)
    .where(and(eq(apiKeys.teamId, ctx.teamId), isNull(apiKeys.revokedAt)))
    .orderBy(desc(apiKeys.id));
  return rows.map(({ key, names }) => present(key, names));
}

/** Gives a key another name. */
export async function renameKey(ctx: Ctx, id: string, name: string): Promise<{ id: string }> {
  return ctx.db.transaction(async (tx) => {
    const [before] = await tx
      .select({ name: apiKeys.name })
      .from(apiKeys)
      .where(alive(ctx, id))
      .for("no key update");
    if (!before) throw notFound("API key");
    await tx.update(apiKeys).set({ name }).where(alive(ctx, id));
    if (before.name !== name)
      await recordAudit(tx, ctx, {
        action: "key.renamed",
        subject: { id, name },
        detail: { before: before.name },
      });
    return { id };
  });
}

/** Ends a key. Web processes that know it forget it within a second. */
export async function revokeKey(ctx: Ctx, id: string): Promise<{ id: string }> {
  return ctx.db.transaction(async (tx) => {
    const [revoked] = await tx
      .update(apiKeys)
      .set({ revokedAt: sql`now()` })
      .where(alive(ctx, id))
      .returning({ name: apiKeys.name });
    if (!revoked) throw notFound("API key");
    await recordAudit(tx, ctx, { action: "key.revoked", subject: { id, name: revoked.name } });
    return { id };
  });
}

/** A key of the team that is not revoked. */
export const alive = (ctx: Ctx, id: string) =>
  and(eq(apiKeys.teamId, ctx.teamId), eq(apiKeys.id, id), isNull(apiKeys.revokedAt));

function present(row: typeof apiKeys.$inferSelect, names: string[]): Key {
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
