import { and, desc, eq, gt, sql } from "drizzle-orm";
import { apiRequests } from "#db/schema/api-requests";
import type { Ctx } from "#server/deps";

/** The newest calls of the team that are looked through for those of one key. */
const callsReadMax = 20_000;
/** The newest refusals of a key that are read. */
const refusalsReadMax = 1_000;
const groupsMax = 50;

/** How often a key was used since midnight (UTC); `isAtLeast` where the team made more calls than are looked through. */
export type KeyUse = { calls: number; isAtLeast: boolean };

/** Counts a key's recorded calls of today, among the team's newest ones. */
export async function countUse(ctx: Ctx, apiKeyId: string): Promise<KeyUse> {
  const newest = ctx.db
    .select({ apiKeyId: apiRequests.apiKeyId })
    .from(apiRequests)
    .where(
      and(
        eq(apiRequests.teamId, ctx.teamId),
        gt(apiRequests.createdAt, sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`),
      ),
    )
    .orderBy(desc(apiRequests.id))
    .limit(callsReadMax)
    .as("newest");
  const [row] = await ctx.db
    .select({
      calls: sql<number>`(count(*) filter (where ${newest.apiKeyId} = ${apiKeyId}))::int`,
      read: sql<number>`count(*)::int`,
    })
    .from(newest);
  return { calls: row?.calls ?? 0, isAtLeast: (row?.read ?? 0) >= callsReadMax };
}

/** Why calls of a key were refused. */
export type RefusalReason = "ended" | "scope" | "domain" | "grant" | "limit";

/** Refused calls of a key that are alike. */
export type RefusalGroup = {
  status: number;
  reason: RefusalReason;
  method: string;
  path: string;
  /** The sender's domain that was asked for, where that is the reason. */
  domain: string | null;
  count: number;
  firstAt: Date;
  lastAt: Date;
};

/**
 * Why calls of a key were refused in the last seven days, the latest first: alike ones together, of the newest
 * `refusalsReadMax`. A call without the scope ends before its body is read, so a body on record says that the scope was there.
 */
export async function listRefusals(ctx: Ctx, apiKeyId: string): Promise<RefusalGroup[]> {
  const recent = ctx.db
    .select({
      status: apiRequests.status,
      method: apiRequests.method,
      path: apiRequests.path,
      createdAt: apiRequests.createdAt,
      reason: sql<RefusalReason>`case
        when ${apiRequests.status} = 401 then 'ended'
        when ${apiRequests.status} = 429 then 'limit'
        when ${SENDER} is not null then 'domain'
        when ${apiRequests.requestBody} is not null then 'grant'
        else 'scope' end`.as("reason"),
      domain: sql<string | null>`case when ${apiRequests.status} = 403 then
        lower(substring(${SENDER} from '@([^@\\s<>]+)>?\\s*$')) end`.as("domain"),
    })
    .from(apiRequests)
    .where(
      and(
        eq(apiRequests.teamId, ctx.teamId),
        eq(apiRequests.apiKeyId, apiKeyId),
        // By number in the text, for the planner to see that their partial index will do.
        sql`${apiRequests.status} in (401, 403, 429)`,
        gt(apiRequests.createdAt, sql`now() - interval '7 days'`),
      ),
    )
    .orderBy(desc(apiRequests.createdAt))
    .limit(refusalsReadMax)
    .as("recent");
  const { status, reason, method, path, domain, createdAt } = recent;
  return ctx.db
    .select({
      status,
      reason,
      method,
      path,
      domain,
      count: sql<number>`count(*)::int`,
      firstAt: sql<Date>`min(${createdAt})`.mapWith(apiRequests.createdAt),
      lastAt: sql<Date>`max(${createdAt})`.mapWith(apiRequests.createdAt),
    })
    .from(recent)
    .groupBy(status, reason, method, path, domain)
    .orderBy(desc(sql`max(${createdAt})`))
    .limit(groupsMax);
}

/** Of one mail, or of the first of a batch. */
const SENDER = sql`coalesce(${apiRequests.requestBody} ->> 'from', ${apiRequests.requestBody} #>> '{0,from}')`;
