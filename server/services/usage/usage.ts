import { and, asc, between, count, eq, getTableColumns, gte, ne, type SQL, sql } from "drizzle-orm";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import { usageDays } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { USAGE_COUNTS, type Usage, type UsageCounts, type UsageLine } from "#server/shared/wire/usage";
import { nameKeys } from "../keys/read";
import { countUsage } from "./count";

/** Maximum number of days per call. */
export const usageDaysMax = 92;
/** Maximum number of lines in a response. */
const linesMax = 10_000;
/** Events that one call counts before it responds, and how many per transaction. */
const countMax = 200_000;
const countAtOnce = 20_000;

/** First and last day, inclusive, as `2026-01-31` in UTC. */
export type UsageQuery = { since: string; until: string; apiKeyId?: string; domain?: string };

/**
 * The team's usage by day, key and domain, in recipients. Each event counts on its own day: an email accepted
 * today may bounce tomorrow. Events that the worker has not counted yet are counted first, so the result is
 * as current as the feed of events.
 */
export async function readUsage(ctx: Ctx, query: UsageQuery): Promise<Usage> {
  const isComplete = await countPendingUsage(ctx);
  const today = ctx.clock().toISOString().slice(0, 10);
  const monthStart = `${today.slice(0, 7)}-01`;
  const [lines, month, day, own] = await Promise.all([
    readLines(ctx, query),
    sumSince(ctx, monthStart),
    sumSince(ctx, today),
    ctx.db
      .select({ count: count() })
      .from(domains)
      .where(and(eq(domains.teamId, ctx.teamId), ne(domains.name, BUILT_IN_DOMAIN))),
  ]);
  return { lines, today: day, month, domains: own[0]?.count ?? 0, isComplete };
}

/** Counts the events that the worker has not counted yet. False if more remain than one call counts. */
export async function countPendingUsage(ctx: Ctx): Promise<boolean> {
  for (let counted = 0; counted < countMax; ) {
    const now = await countUsage(ctx.hot, ctx.teamId, { limit: countAtOnce, wait: true });
    if (now === "busy" || now < countAtOnce) return now !== "busy";
    counted += now;
  }
  return false;
}

async function readLines(ctx: Ctx, { since, until, apiKeyId, domain }: UsageQuery): Promise<UsageLine[]> {
  const { teamId: _, firstPosition: __, ...columns } = getTableColumns(usageDays);
  const rows = await ctx.db
    .select(columns)
    .from(usageDays)
    .where(
      and(
        eq(usageDays.teamId, ctx.teamId),
        between(usageDays.day, since, until),
        apiKeyId === undefined ? undefined : eq(usageDays.apiKeyId, apiKeyId),
        domain === undefined ? undefined : eq(usageDays.domain, domain),
      ),
    )
    .orderBy(asc(usageDays.day), asc(usageDays.domain), asc(usageDays.apiKeyId))
    .limit(linesMax + 1);
  if (rows.length > linesMax)
    throw new AppError(
      "invalid",
      `The result has more than ${linesMax.toLocaleString("en")} lines. Request fewer days, or one \`key\` or \`domain\`.`,
    );
  const names = await nameKeys(
    ctx,
    rows.flatMap((row) => row.apiKeyId ?? []),
  );
  return rows.map((row) => ({ ...row, keyName: names.get(row.apiKeyId ?? "") ?? null }));
}

/** The sum of each count over several days. */
export const USAGE_SUMS = Object.fromEntries(
  USAGE_COUNTS.map((name) => [name, sql<number>`coalesce(sum(${usageDays[name]}), 0)::float8`]),
) as Record<keyof UsageCounts, SQL<number>>;

async function sumSince(ctx: Ctx, day: string): Promise<UsageCounts> {
  const [row] = await ctx.db
    .select(USAGE_SUMS)
    .from(usageDays)
    .where(and(eq(usageDays.teamId, ctx.teamId), gte(usageDays.day, day)));
  if (!row) throw new Error("a sum returned no row");
  return row;
}
