import { and, desc, eq, getTableColumns, inArray, isNotNull, isNull, or, type SQL, sql } from "drizzle-orm";
import { apiKeyDomains, apiKeys, apiRequests } from "#db/schema/api-keys";
import { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { notFound } from "#server/platform/errors";
import { isId } from "#server/platform/ids";
import { type ApiKey, rejectionsCountedMax } from "#server/shared/wire/api-key";
import { type Page, type PageQuery, pageById } from "../paging";

// The status numbers are literals in the SQL text, because the planner only then uses the partial index.
const rejectedCount = (status: SQL) => sql`(select count(*) from (
  select from ${apiRequests} r where r.team_id = api_keys.team_id and r.api_key_id = api_keys.id
  and r.status in (401, 403, 429) and r.status = ${status} and r.created_at > now() - interval '24 hours'
  limit ${rejectionsCountedMax}) counted)`;

const { secretHash: _, ...columns } = getTableColumns(apiKeys);
const API_KEY = {
  ...columns,
  links: sql<ApiKey["links"]>`(select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'name', d.name)
    order by d.name), '[]') from ${apiKeyDomains} l join ${domains} d on d.id = l.domain_id
    where l.team_id = api_keys.team_id and l.api_key_id = api_keys.id)`,
  rejections: sql<ApiKey["rejections"]>`jsonb_build_object('unauthorized', ${rejectedCount(sql`401`)},
    'forbidden', ${rejectedCount(sql`403`)}, 'rate_limited', ${rejectedCount(sql`429`)})`,
};

const keysOf = (ctx: Pick<Ctx, "teamId">, condition: SQL | undefined) =>
  and(eq(apiKeys.teamId, ctx.teamId), condition);

/** Pages of the team's keys, newest first, either active or revoked, with domains and recent rejections. */
export async function pageKeys(
  ctx: Ctx,
  { areRevoked = false, ...query }: PageQuery & { areRevoked?: boolean },
): Promise<Page<ApiKey>> {
  const isListed = (areRevoked ? isNotNull : isNull)(apiKeys.revokedAt);
  const select = () => ctx.db.select(API_KEY).from(apiKeys).$dynamic();
  return pageById(ctx, apiKeys, query, { select, where: isListed });
}

/** All keys of the team that are not revoked, newest first. */
export const listKeys = (ctx: Ctx): Promise<ApiKey[]> =>
  ctx.db
    .select(API_KEY)
    .from(apiKeys)
    .where(keysOf(ctx, isNull(apiKeys.revokedAt)))
    .orderBy(desc(apiKeys.id));

/** A key of the team, revoked or not. */
export async function getKey(ctx: Pick<Ctx, "db" | "teamId">, id: string): Promise<ApiKey> {
  if (!isId(id)) throw notFound("API key");
  const [key] = await ctx.db
    .select(API_KEY)
    .from(apiKeys)
    .where(keysOf(ctx, eq(apiKeys.id, id)));
  if (!key) throw notFound("API key");
  return key;
}

/** The key that this key replaced, and the newest one that replaced it. */
export async function listRotation(ctx: Ctx, { id, rotatedFrom }: Pick<ApiKey, "id" | "rotatedFrom">) {
  const related = await ctx.db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(
      keysOf(ctx, or(eq(apiKeys.rotatedFrom, id), rotatedFrom ? eq(apiKeys.id, rotatedFrom) : undefined)),
    )
    .orderBy(desc(apiKeys.id));
  return {
    predecessor: related.find((key) => key.id === rotatedFrom) ?? null,
    successor: related.find((key) => key.id !== rotatedFrom) ?? null,
  };
}

/** Names of the team's keys by id, including revoked keys: emails outlive the key that sent them. */
export async function nameKeys(ctx: Ctx, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await ctx.db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(keysOf(ctx, inArray(apiKeys.id, [...new Set(ids)])));
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The newest keys of the team that are not revoked and have this text in their name, in any letter case. */
export const findKeysByName = (
  ctx: Ctx,
  { part, limit }: { part: string; limit: number },
): Promise<{ id: string; name: string }[]> =>
  ctx.db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(
      keysOf(ctx, and(isNull(apiKeys.revokedAt), sql`strpos(lower(${apiKeys.name}), lower(${part})) > 0`)),
    )
    .orderBy(desc(apiKeys.id))
    .limit(limit);
