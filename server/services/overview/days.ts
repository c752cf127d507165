import { and, asc, between, eq, gte, sql } from "drizzle-orm";
import { emails } from "#db/schema/emails";
import { emailEvents, usageDays } from "#db/schema/events";
import type { Ctx } from "#server/deps";
import { firstIdAt } from "#server/platform/ids";
import { USAGE_COUNTS, type UsageCounts } from "#server/shared/wire/usage";
import { countPendingUsage } from "../usage/usage";

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
    .select({ day: usageDays.day, ...SUMS })
    .from(usageDays)
    .where(and(eq(usageDays.teamId, ctx.teamId), between(usageDays.day, dayOf(first), dayOf(today))))
    .groupBy(usageDays.day)
    .orderBy(asc(usageDays.day));
  const byDay = new Map(rows.map(({ day, ...counts }) => [day, counts]));
  const spans = Array.from({ length: days }, (_, nth) => {
    const at = new Date(first.getTime() + nth * dayMs);
    return { at, ...(byDay.get(dayOf(at)) ?? ZERO_COUNTS) };
  });
  return { spans, isComplete };
}

const startOfDay = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs);
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const sumOf = (name: keyof UsageCounts) => sql<number>`coalesce(sum(${usageDays[name]}), 0)::float8`;
const SUMS = Object.fromEntries(USAGE_COUNTS.map((name) => [name, sumOf(name)])) as Record<
  keyof UsageCounts,
  ReturnType<typeof sumOf>
>;
const ZERO_COUNTS = Object.fromEntries(USAGE_COUNTS.map((name) => [name, 0])) as UsageCounts;

/**
 * The hours of today (UTC) up to now, counted from the newest `countedMax` emails and events; earlier hours
 * may be missing.
 */
export async function readHours(ctx: Ctx): Promise<Spans> {
  const now = ctx.clock();
  const today = startOfDay(now);
  const [accepted, events] = await Promise.all([acceptedByHour(ctx, today), eventsByHour(ctx, today)]);
  const first = Math.max(...[accepted, events].map(({ firstFull }) => firstFull));
  const hours = now.getUTCHours() + 1;
  const spans = Array.from({ length: hours }, (_, hour) => {
    const counts: UsageCounts = { ...ZERO_COUNTS, accepted: accepted.byHour.get(hour) ?? 0 };
    for (const name of USAGE_COUNTS)
      if (name !== "accepted") counts[name] = events.byHour.get(`${hour} email.${name}`) ?? 0;
    return { at: new Date(today.getTime() + hour * 3_600_000), ...counts };
  });
  return { spans: spans.slice(first), isComplete: first === 0 };
}

async function acceptedByHour(ctx: Ctx, since: Date) {
  const newest = ctx.db
    .select({
      at: emails.createdAt,
      recipients:
        sql<number>`jsonb_array_length(${emails.to}) + jsonb_array_length(${emails.cc}) + jsonb_array_length(${emails.bcc})`.as(
          "recipients",
        ),
    })
    .from(emails)
    .where(and(eq(emails.teamId, ctx.teamId), sql`${emails.id} >= ${firstIdAt(since)}`))
    .orderBy(sql`${emails.id} desc`)
    .limit(countedMax)
    .as("newest");
  const hour = sql<number>`extract(hour from ${newest.at} at time zone 'UTC')::int`;
  const rows = await ctx.db
    .select({ hour, count: sql<number>`sum(${newest.recipients})::float8`, rows: sql<number>`count(*)::int` })
    .from(newest)
    .where(gte(newest.at, since))
    .groupBy(sql`1`);
  return { byHour: new Map(rows.map((row) => [row.hour, row.count])), firstFull: firstFullOf(rows) };
}

async function eventsByHour(ctx: Ctx, since: Date) {
  const newest = ctx.db
    .select({ at: emailEvents.createdAt, type: emailEvents.type })
    .from(emailEvents)
    .where(eq(emailEvents.teamId, ctx.teamId))
    .orderBy(sql`${emailEvents.position} desc`, sql`${emailEvents.id} desc`)
    .limit(countedMax)
    .as("newest");
  const hour = sql<number>`extract(hour from ${newest.at} at time zone 'UTC')::int`;
  const rows = await ctx.db
    .select({ hour, type: newest.type, count: sql<number>`count(*)::int` })
    .from(newest)
    .where(gte(newest.at, since))
    .groupBy(sql`1`, newest.type);
  const byHour = new Map(rows.map((row) => [`${row.hour} ${row.type}`, row.count]));
  return { byHour, firstFull: firstFullOf(rows.map((row) => ({ ...row, rows: row.count }))) };
}

/** The first completely counted hour: if `countedMax` rows were read, the earliest hour is incomplete. */
function firstFullOf(rows: { hour: number; rows: number }[]): number {
  const read = rows.reduce((sum, row) => sum + row.rows, 0);
  return read < countedMax ? 0 : Math.min(...rows.map(({ hour }) => hour)) + 1;
}
