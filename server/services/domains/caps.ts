import { sql } from "drizzle-orm";
import { z } from "zod";
import type { domains } from "#db/schema/domains";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";

/** The most that a cap, and that a warm-up's growth in a day, can be. */
export const recipientsMax = 100_000_000;
export const growthPercentMax = 900;

const A_DAY = "Must be a day of this century or the next, such as 2030-01-31.";
/** On which day a warm-up may begin. */
export const WarmUpDay = z.iso.date(A_DAY).refine((day) => day >= "2000-01-01" && day < "2200-01-01", A_DAY);

/** A new domain's reputation is built by a number of mails that grows from day to day. Days are in UTC. */
export type WarmUp = {
  /** As 2026-11-21; null for today. Before it the warm-up holds nothing back. */
  startDate: string | null;
  /** How many recipients the first day allows, and by how many per cent each day allows more than the one before. */
  firstDay: number;
  growthPercent: number;
  /** With the day that would allow so many the warm-up is over; null where the daily cap is what it grows to. */
  target: number | null;
};

/** How many recipients a day a domain may write to: each left as it is, set, or taken away by null. */
export type CapChange = { dailyCap?: number | null; warmUp?: WarmUp | null };

const TODAY = sql`(now() at time zone 'utc')::date`;

const NO_WARM_UP = { warmUpFrom: null, warmUpFirst: null, warmUpGrowth: null, warmUpTarget: null };

/** What is written for a change. A new warm-up takes the whole place of the one before. */
export function capColumns({ dailyCap, warmUp }: CapChange) {
  return {
    ...(dailyCap !== undefined && { dailyCap }),
    ...(warmUp !== undefined && (warmUp === null ? NO_WARM_UP : warmUpColumns(warmUp))),
  };
}

const warmUpColumns = ({ startDate, firstDay, growthPercent, target }: WarmUp) => ({
  warmUpFrom: startDate ?? TODAY,
  warmUpFirst: firstDay,
  warmUpGrowth: growthPercent,
  warmUpTarget: target,
});

/** A warm-up must come to an end: 422 where nothing says by which number. */
export function requireEnd(
  domain: Pick<typeof domains.$inferSelect, "dailyCap" | "warmUpFirst" | "warmUpTarget">,
): void {
  const { dailyCap, warmUpFirst, warmUpTarget } = domain;
  if (warmUpFirst === null) return;
  const end = warmUpTarget ?? dailyCap;
  if (end === null)
    throw new AppError(
      "invalid",
      "Invalid `warm_up`: say where it ends, by its `target` or by a `daily_cap`.",
    );
  if (end <= warmUpFirst)
    throw new AppError(
      "invalid",
      `Invalid \`warm_up\`: it ends at ${end}, so its \`first_day\` has to be less.`,
    );
}

/** How many recipients today allows the domain; null where it has no cap and no warm-up. And how many were counted. */
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

/** What one day of a warm-up allows, as 2026-11-21. */
export type PlannedDay = { day: string; allowed: number };

const planDaysMax = 60;

/** The days of a domain's warm-up from its first one on, as mail is held to them; none where it has no warm-up. */
export async function readWarmUpPlan(
  ctx: Ctx,
  domain: Pick<
    typeof domains.$inferSelect,
    "warmUpFrom" | "warmUpFirst" | "warmUpGrowth" | "warmUpTarget" | "dailyCap"
  >,
): Promise<PlannedDay[]> {
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
