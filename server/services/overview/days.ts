import { and, asc, between, eq, type SQL, sql } from "drizzle-orm";
import { usageDays } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { firstIdAt } from "#server/platform/ids";
import { USAGE_COUNTS, type UsageCounts } from "#server/shared/wire/usage";
import { countPendingUsage, USAGE_SUMS } from "../usage/usage";

const dayMs = 86_400_000;
/** Maximum number of emails, and of events, that hourly counts are based on. */
const countedMax = 50_000;

/** The counts of one time span that begins at `at`: a day or an hour, in UTC. */
export type Span = UsageCounts & { at: Date };

export type Spans = {
  spans: Span[];
  /**
   * False if older events are not counted yet, or there are too many to count all hours: the first hours are
   * then missing.
   */
  isComplete: boolean;
};

/**
 * The last `days` days (UTC) including today. Each event counts on its own day, in recipients. Days without
 * email are included.
 */
export async function readDays(ctx: Ctx, days: number): Promise<Spans> {
  const isComplete = await countPendingUsage(ctx);
  const today = startOfDay(ctx.clock());
  const first = new Date(today.getTime() - (days - 1) * dayMs);
  const rows = await ctx.db
    .select({ day: usageDays.day, ...USAGE_SUMS })
    .from(usageDays)
    .where(and(eq(usageDays.teamId, ctx.teamId), between(usageDays.day, dayOf(first), dayOf(today))))
    .groupBy(usageDays.day)
    .orderBy(asc(usageDays.day));
  const byDay = new Map(rows.map(({ day, ...counts }) => [day, counts]));
  const spans = Array.from({ length: days }, (_, nth) => {
    const at = new Date(first.getTime() + nth * dayMs);
    return { at, ...(byDay.get(dayOf(at)) ?? usageCounts(() => 0)) };
  });
  return { spans, isComplete };
}

const startOfDay = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs);
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const usageCounts = (of: (name: keyof UsageCounts) => number) =>
  Object.fromEntries(USAGE_COUNTS.map((name) => [name, of(name)])) as UsageCounts;

/**
 * The hours of today (UTC) up to now, counted from the newest `countedMax` emails and events; earlier hours
 * may be missing.
 */
export async function readHours(ctx: Ctx): Promise<Spans> {
  const now = ctx.clock();
  const today = startOfDay(now);
  const [accepted, events] = await Promise.all([
    countByHour(
      ctx,
      today,
      sql`select created_at as at, 'email.accepted' as type,
          jsonb_array_length("to") + jsonb_array_length(cc) + jsonb_array_length(bcc) as recipients
        from emails where team_id = ${ctx.teamId} and id >= ${firstIdAt(today)} order by id desc`,
    ),
    countByHour(
      ctx,
      today,
      sql`select created_at as at, type, 1 as recipients
        from email_events where team_id = ${ctx.teamId} order by position desc, id desc`,
    ),
  ]);
  const counts = new Map([...accepted.counts, ...events.counts]);
  const first = Math.max(accepted.firstFull, events.firstFull);
  const spans = Array.from({ length: now.getUTCHours() + 1 }, (_, hour) => ({
    at: new Date(today.getTime() + hour * 3_600_000),
    ...usageCounts((name) => counts.get(`${hour} email.${name}`) ?? 0),
  }));
  return { spans: spans.slice(first), isComplete: first === 0 };
}

/** Sums the recipients of the first `countedMax` rows of `newest` from `since` on, by hour and type. */
async function countByHour(ctx: Ctx, since: Date, newest: SQL) {
  const rows = await ctx.db.execute<{ hour: number; type: string; recipients: number; rows: number }>(sql`
    select extract(hour from at at time zone 'UTC')::int as hour, type, sum(recipients)::float8 as recipients,
      count(*)::int as rows
    from (${newest} limit ${countedMax}) as newest where at >= ${since.toISOString()}::timestamptz group by 1, 2`);
  const read = rows.reduce((sum, row) => sum + row.rows, 0);
  return {
    counts: new Map(rows.map(({ hour, type, recipients }) => [`${hour} ${type}`, recipients])),
    /** The first completely counted hour: if `countedMax` rows were read, the earliest hour is incomplete. */
    firstFull: read < countedMax ? 0 : Math.min(...rows.map(({ hour }) => hour)) + 1,
  };
}
