import { and, count, eq, ne } from "drizzle-orm";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { dayMs } from "#server/shared/durations";
import { type Usage, usageOf } from "#server/shared/wire/usage";
import { nameKeys } from "../keys/read";
import { getMetrics } from "./read";
import { sumCounts } from "./sum";

/** Maximum number of days per call. */
export const usageDaysMax = 92;

/** First and last day, inclusive, as `2026-01-31` in UTC. */
export type UsageQuery = { since: string; until: string; apiKeyId?: string; domain?: string };

/**
 * The team's recipients by their current status, by the day on which their email was accepted, key and
 * domain: the same counts as the metrics, including the events that the worker has not counted yet.
 */
export async function getUsage(ctx: Ctx, { since, until, apiKeyId, domain }: UsageQuery): Promise<Usage> {
  const { rows, isComplete } = await getMetrics(ctx, {
    startAt: new Date(since),
    endAt: new Date(Date.parse(until) + dayMs),
    timeZone: "UTC",
    granularity: "daily",
    dimensions: ["period", "domain", "key"],
    filter: { apiKeyId, domains: domain === undefined ? null : [domain] },
  });
  const now = ctx.clock();
  const today = now.toISOString().slice(0, 10);
  const sumSince = async (day: string) => {
    const query = { startAt: new Date(day), endAt: now, dimensions: [], filter: {} };
    const [sum] = await sumCounts(ctx, query);
    if (!sum) throw new Error("a sum returned no row");
    return usageOf(sum);
  };
  const [month, day, names, [own]] = await Promise.all([
    sumSince(`${today.slice(0, 7)}-01`),
    sumSince(today),
    nameKeys(
      ctx,
      rows.flatMap(({ key }) => key ?? []),
    ),
    ctx.db
      .select({ count: count() })
      .from(domains)
      .where(and(eq(domains.teamId, ctx.teamId), ne(domains.name, BUILT_IN_DOMAIN))),
  ]);
  const lines = rows.map((row) => ({
    day: row.period ?? "",
    apiKeyId: row.key ?? null,
    keyName: names.get(row.key ?? "") ?? null,
    domain: row.domain ?? "",
    ...usageOf(row),
  }));
  return { lines, today: day, month, domains: own?.count ?? 0, isComplete };
}
