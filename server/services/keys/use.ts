import { and, desc, eq, gt, sql } from "drizzle-orm";
import { apiRequests, type OwnLimits } from "#db/schema/api-keys";
import type { Ctx } from "#server/deps";
import type { RejectionReason } from "#server/platform/errors";
import type { Limits } from "#server/platform/limits/limits";
import { LIMIT_PER_MINUTE, TIERS } from "#server/shared/rate-limits";

/** Number of the team's newest calls that are searched for those of one key. */
const callsReadMax = 20_000;
/** Number of a key's newest rejections that are read. */
const rejectionsReadMax = 1_000;
const groupsMax = 50;

/**
 * Counts the recorded calls of a key since midnight (UTC) among the team's newest calls; `isAtLeast` if the
 * team made more calls than are searched.
 */
export async function countUse(ctx: Ctx, apiKeyId: string) {
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

/** Why calls of a key were rejected: `ended` for 401, `limit` for 429, for 403 the reason of its header. */
export type KeyRejectionReason = "ended" | "limit" | RejectionReason;

/** Rejected calls of a key with the same status, reason, method, path and detail. */
export type RejectionGroup = Awaited<ReturnType<typeof listRejections>>[number];

/**
 * Rejected calls of a key in the last seven days, grouped, latest first; from the newest `rejectionsReadMax`.
 * `detail` is the message of the 403; null for 401 and 429.
 */
export async function listRejections(ctx: Ctx, apiKeyId: string) {
  const recent = ctx.db
    .select({
      status: apiRequests.status,
      method: apiRequests.method,
      path: apiRequests.path,
      createdAt: apiRequests.createdAt,
      reason: sql<KeyRejectionReason>`case
        when ${apiRequests.status} = 401 then 'ended'
        when ${apiRequests.status} = 429 then 'limit'
        else ${apiRequests.rejectionReason} end`.as("reason"),
      detail: apiRequests.rejectionDetail,
    })
    .from(apiRequests)
    .where(
      and(
        eq(apiRequests.teamId, ctx.teamId),
        eq(apiRequests.apiKeyId, apiKeyId),
        // The status numbers are literals in the SQL text, because the planner only then uses the partial
        // index.
        sql`${apiRequests.status} in (401, 403, 429)`,
        gt(apiRequests.createdAt, sql`now() - interval '7 days'`),
      ),
    )
    .orderBy(desc(apiRequests.createdAt))
    .limit(rejectionsReadMax)
    .as("recent");
  const { status, reason, method, path, detail, createdAt } = recent;
  return ctx.db
    .select({
      status,
      reason,
      method,
      path,
      detail,
      count: sql<number>`count(*)::int`,
      lastAt: sql<Date>`max(${createdAt})`.mapWith(apiRequests.createdAt),
    })
    .from(recent)
    .groupBy(status, reason, method, path, detail)
    .orderBy(desc(sql`max(${createdAt})`))
    .limit(groupsMax);
}

/** The state of a key's rate limit for one class of calls. */
export type Gauge = Awaited<ReturnType<typeof getGauges>>[number];

/**
 * Reads a key's rate limits without counting a call: the values that the headers of the next call would have,
 * before that call. One store read per class. `limit` is the key's own limit in calls per minute, or the
 * default; `resetAtMs` is the end of the current clock minute.
 */
export async function getGauges(limits: Pick<Limits, "peek">, key: { id: string; limits: OwnLimits }) {
  return Promise.all(
    TIERS.map(async (tier) => {
      const own = key.limits[tier];
      const { limit, remaining, resetAtMs } = await limits.peek(key.id, tier, own ?? LIMIT_PER_MINUTE[tier]);
      return { tier, limit, isOwn: own !== undefined, remaining, resetAtMs };
    }),
  );
}
