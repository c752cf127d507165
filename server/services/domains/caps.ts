import { sql } from "drizzle-orm";
import { z } from "zod";
import type { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { invalidField } from "#server/platform/errors";

/** Upper limits of a daily cap (recipients) and of a warm-up's daily growth (percent). */
export const recipientsMax = 100_000_000;
export const growthPercentMax = 900;

const A_DAY = "Must be a day of this century or the next, such as 2030-01-31.";
/** A day on which a warm-up may start. */
export const WarmUpDay = z.iso.date(A_DAY).refine((day) => day >= "2000-01-01" && day < "2200-01-01", A_DAY);

/**
 * A warm-up builds a new domain's reputation: the number of recipients per day grows daily. Days are in UTC.
 */
export type WarmUp = {
  /** As 2026-11-21; null for today. Before this day the warm-up does not limit sending. */
  startDate: string | null;
  /** Recipients on the first day, and the growth from each day to the next in percent. */
  firstDay: number;
  growthPercent: number;
  /** The warm-up ends on the day that reaches this number; null if it grows to the daily cap. */
  target: number | null;
};

/** Recipients per day for a domain. An absent field is unchanged; null removes it. */
export type CapChange = { dailyCap?: number | null; warmUp?: WarmUp | null };

const TODAY = sql`(now() at time zone 'utc')::date`;

/** The columns that a change writes. A new warm-up replaces the previous one completely. */
export const capColumns = ({ dailyCap, warmUp }: CapChange) => ({
  ...(dailyCap !== undefined && { dailyCap }),
  ...(warmUp !== undefined && {
    warmUpFrom: warmUp && (warmUp.startDate ?? TODAY),
    warmUpFirst: warmUp?.firstDay ?? null,
    warmUpGrowth: warmUp?.growthPercent ?? null,
    warmUpTarget: warmUp?.target ?? null,
  }),
});

/**
 * A warm-up must end: throws 422 if neither its target nor the daily cap is set, or the end is not above the
 * first day.
 */
export function requireEnd({ dailyCap, warmUpFirst, warmUpTarget }: typeof domains.$inferSelect): void {
  if (warmUpFirst === null) return;
  const end = warmUpTarget ?? dailyCap;
  if (end === null)
    throw invalidField(
      "warm_up",
      "set `target` or `daily_cap` as its end.",
      "Enter a target or a daily cap as its end.",
    );
  if (end <= warmUpFirst)
    throw invalidField(
      "warm_up",
      `it ends at ${end}, so \`first_day\` must be less.`,
      `it ends at ${end}, so the first day must have less.`,
    );
}

/**
 * How many recipients the domain may send to today, null without cap and warm-up; and how many it has used.
 */
export const todayColumns = {
  allowedToday: sql<
    number | null
  >`least(domains.daily_cap, warm_up_allows(domains.warm_up_from, domains.warm_up_first,
    domains.warm_up_growth, domains.warm_up_target, ${TODAY}))`.as("allowed_today"),
  handedOverToday: sql<number>`coalesce((select s.handed_over from sending_days s
    where s.team_id = domains.team_id and s.domain = domains.name and s.day = ${TODAY}), 0)`.as(
    "handed_over_today",
  ),
};

/** What one day of a warm-up allows. `day` is formatted as 2026-11-21. */
export type PlannedDay = { day: string; allowed: number };

const planDaysMax = 60;

/**
 * The days of a domain's warm-up from the first on, by the same rule that limits sending; empty without a
 * warm-up.
 */
export async function getWarmUpPlan(ctx: Ctx, domain: typeof domains.$inferSelect): Promise<PlannedDay[]> {
  const { warmUpFrom, warmUpFirst, warmUpGrowth, warmUpTarget, dailyCap } = domain;
  if (warmUpFrom === null) return [];
  const end = warmUpTarget ?? dailyCap;
  const rows = await ctx.db.execute<PlannedDay>(sql`
    select to_char(day, 'YYYY-MM-DD') as day, allowed from (
      select day, warm_up_allows(${warmUpFrom}::date, ${warmUpFirst}::int, ${warmUpGrowth}::int, ${warmUpTarget}::int, day::date) as allowed
      from generate_series(${warmUpFrom}::date, ${warmUpFrom}::date + ${planDaysMax - 1}::int, interval '1 day') as day
    ) as plan where allowed < ${end}::int order by day`);
  return [...rows];
}
