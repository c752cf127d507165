import { and, desc, eq, inArray, isNull, sql } from "drizzle-orm";
import { apiKeyDomains, apiKeys, type OwnLimits } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import type { Scope } from "#server/scopes";
import { mintToken } from "#server/secrets";

export type NewKey = {
  name: string;
  scopes: readonly Scope[];
  /** Names of domains of the team; "all" also covers those added later. */
  domains: readonly string[] | "all";
  /** May lie in the past: such a key is refused from the start. */
  expiresAt?: Date | null;
  limits?: OwnLimits;
};

export type Key = {
  id: string;
  tokenId: string;
  name: string;
  scopes: string[];
  domains: string[] | "all";
  limits: OwnLimits;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
};

/** Makes a key and tells its token, this once: only a hash is kept. Every domain must be one of the team's. */
export async function createKey(ctx: Ctx, input: NewKey): Promise<{ key: Key; token: string }> {
  const minted = mintToken();
  const id = newId();
  const names = input.domains === "all" ? [] : [...new Set(input.domains)];
  return ctx.db.transaction(async (tx) => {
    const linked = await tx
      .select({ id: domains.id, name: domains.name })
      .from(domains)
      .where(and(eq(domains.teamId, ctx.teamId), inArray(domains.name, names)));
    const missing = names.find((name) => !linked.some((domain) => domain.name === name));
    if (missing !== undefined)
      throw new AppError(
        "invalid",
        `${missing} is not a domain of this team. Add it first: domain add ${missing}`,
      );
    const [row] = await tx
      .insert(apiKeys)
      .values({
        id,
        teamId: ctx.teamId,
        name: input.name,
        tokenId: minted.tokenId,
        secretHash: minted.secretHash,
        scopes: [...input.scopes],
        allDomains: input.domains === "all",
        expiresAt: input.expiresAt ?? null,
        limits: input.limits ?? {},
      })
      .returning();
    if (!row) throw new Error("an insert returned no row");
    if (linked.length > 0)
      await tx
        .insert(apiKeyDomains)
        .values(linked.map((domain) => ({ teamId: ctx.teamId, apiKeyId: id, domainId: domain.id })));
    return { key: present(row, names), token: minted.token };
  });
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

/** Ends a key. Web processes that know it forget it within a second. */
export async function revokeKey(ctx: Ctx, id: string): Promise<{ id: string }> {
  const [revoked] = await ctx.db
    .update(apiKeys)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(apiKeys.teamId, ctx.teamId), eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id });
  if (!revoked) throw notFound("API key");
  return revoked;
}

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
