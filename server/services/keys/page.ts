import { and, asc, desc, eq, gt, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import { apiKeyDomains, apiKeys } from "#db/schema/api-keys";
import { apiRequests } from "#db/schema/api-requests";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { type Page, type PageQuery, pageOf, requireCursor } from "../paging";

/** Rejections are counted up to this number; counting all could read millions of rows. */
export const rejectionsCountedMax = 1_000;

export type ListedKey = Omit<typeof apiKeys.$inferSelect, "secretHash"> & {
  /** Domains that the key is linked to; empty for a key with access to all domains. */
  links: { id: string; name: string }[];
  /**
   * Calls rejected in the last 24 hours with 401 (expired key), 403 and 429, each counted up to
   * `rejectionsCountedMax`.
   */
  refusals: { unauthorized: number; forbidden: number; rateLimited: number };
};

/** Pages of the team's keys, newest first, either active or revoked, with domains and recent rejections. */
export async function pageKeys(
  ctx: Ctx,
  { areRevoked = false, ...query }: PageQuery & { areRevoked?: boolean },
): Promise<Page<ListedKey>> {
  await requireCursor(ctx, apiKeys, query);
  return pageOf(query, (cursor, order, limit) =>
    ctx.db
      .select(LISTED)
      .from(apiKeys)
      .where(
        and(
          eq(apiKeys.teamId, ctx.teamId),
          areRevoked ? isNotNull(apiKeys.revokedAt) : isNull(apiKeys.revokedAt),
          cursor && (cursor.direction === "older" ? lt(apiKeys.id, cursor.id) : gt(apiKeys.id, cursor.id)),
        ),
      )
      .orderBy(order === "newest" ? desc(apiKeys.id) : asc(apiKeys.id))
      .limit(limit),
  );
}

/** A key with its predecessor and successor in rotation. */
export type KeyDetail = ListedKey & {
  predecessor: { id: string; name: string } | null;
  successor: { id: string; name: string } | null;
};

/** One key of the team, including revoked keys. */
export async function getKey(ctx: Ctx, id: string): Promise<KeyDetail> {
  if (!isId(id)) throw notFound("API key");
  const mine = (condition: SQL) => and(eq(apiKeys.teamId, ctx.teamId), condition);
  const named = { id: apiKeys.id, name: apiKeys.name };
  const [key] = await ctx.db
    .select(LISTED)
    .from(apiKeys)
    .where(mine(eq(apiKeys.id, id)));
  if (!key) throw notFound("API key");
  const [[predecessor], [successor]] = await Promise.all([
    key.rotatedFrom === null
      ? []
      : ctx.db
          .select(named)
          .from(apiKeys)
          .where(mine(eq(apiKeys.id, key.rotatedFrom))),
    ctx.db
      .select(named)
      .from(apiKeys)
      .where(mine(eq(apiKeys.rotatedFrom, id)))
      .orderBy(desc(apiKeys.id))
      .limit(1),
  ]);
  return { ...key, predecessor: predecessor ?? null, successor: successor ?? null };
}

// The status numbers are literals in the SQL text, because the planner only then uses the partial index.
const rejectedCount = (status: ReturnType<typeof sql>) => sql`(select count(*) from (
  select from ${apiRequests} r where r.team_id = api_keys.team_id and r.api_key_id = api_keys.id
  and r.status in (401, 403, 429) and r.status = ${status} and r.created_at > now() - interval '24 hours'
  limit ${rejectionsCountedMax}) counted)`;

const COLUMNS = {
  id: apiKeys.id,
  teamId: apiKeys.teamId,
  name: apiKeys.name,
  tokenId: apiKeys.tokenId,
  scopes: apiKeys.scopes,
  allDomains: apiKeys.allDomains,
  limits: apiKeys.limits,
  expiresAt: apiKeys.expiresAt,
  lastUsedAt: apiKeys.lastUsedAt,
  revokedAt: apiKeys.revokedAt,
  rotatedFrom: apiKeys.rotatedFrom,
  createdAt: apiKeys.createdAt,
};

const LISTED = {
  ...COLUMNS,
  links: sql<ListedKey["links"]>`(select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name)
    order by d.name), '[]') from ${apiKeyDomains} l join ${domains} d on d.id = l.domain_id
    where l.team_id = api_keys.team_id and l.api_key_id = api_keys.id)`,
  refusals: sql<ListedKey["refusals"]>`jsonb_build_object('unauthorized', ${rejectedCount(sql`401`)},
    'forbidden', ${rejectedCount(sql`403`)},
    'rateLimited', ${rejectedCount(sql`429`)})`,
};
