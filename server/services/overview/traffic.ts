import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { dayMs, hourMs } from "#server/shared/durations";
import { countPendingRecipients } from "../metrics/count";
import { getMetrics } from "../metrics/read";
import {
  type MetricsFilter,
  type MetricsRow,
  type RecipientCounts,
  sumCounts,
  sumLargest,
} from "../metrics/sum";

/** Longest range of the overview. */
export const rangeDaysMax = 366;
/** Rows of each table: those with the most recipients. */
const rowsShown = 50;

/** First and last day, inclusive, as `2026-01-31` in UTC. */
export type DayRange = { since: string; until: string };

/** The rows with the most recipients, and the number of the others. */
export type LargestRows = { rows: MetricsRow[]; hidden: number };

export type Traffic = Awaited<ReturnType<typeof getTraffic>>;

/** The last `days` days, including today. */
export const lastDays = ({ clock }: Pick<Ctx, "clock">, days: number): DayRange => {
  const today = clock().getTime();
  return { since: dayOf(today - (days - 1) * dayMs), until: dayOf(today) };
};

/**
 * Recipients of the emails that were accepted in these days, by hour for one day and else by day, with the
 * time before for comparison: of the same length, so a day that has not ended is compared with the same part
 * of a day. 422 if the range is invalid.
 */
export async function getTraffic(ctx: Ctx, range: DayRange, filter: MetricsFilter) {
  const { startAt, endAt, days, isCurrent } = resolveRange(ctx, range);
  const unit: "hour" | "day" = days === 1 ? "hour" : "day";
  const time = { startAt, endAt };
  // Counts the pending events first, so that all queries have the same ones.
  const current = await getMetrics(ctx, {
    ...time,
    filter,
    timeZone: "UTC",
    granularity: unit === "hour" ? "hourly" : "daily",
    dimensions: ["period"],
  });
  const previousTime = { startMs: startAt.getTime() - days * dayMs, endMs: endAt.getTime() - days * dayMs };
  const [previous, byProvider, byDomain] = await Promise.all([
    sumPrevious(ctx, previousTime, filter),
    sumLargest(ctx, { ...time, filter, dimensions: ["provider"] }, rowsShown),
    sumLargest(ctx, { ...time, filter, dimensions: ["domain"] }, rowsShown),
  ]);
  const spanMs = unit === "hour" ? hourMs : dayMs;
  return {
    unit,
    startAt,
    endAt,
    /** All hours or days of the range, up to now. */
    spans: current.rows.map(({ period = "", ...counts }) => ({ ...counts, at: new Date(period) })),
    /** The start of the hour or day that has not ended. Null if the range is over. */
    partialAt: isCurrent ? new Date(Math.floor(endAt.getTime() / spanMs) * spanMs) : null,
    total: current.totals,
    /** Of the time of the same length before, see `sumPrevious`. */
    previous,
    byProvider,
    byDomain,
    isComplete: current.isComplete,
  };
}

/**
 * The tags with the most recipients, of the same emails as `getTraffic`. The filter by tag is ignored, so
 * that each tag can be selected. A separate read, because tags have many more rows than all other tables:
 * up to 200 a day. 422 if the range is invalid.
 */
export async function listTagTraffic(ctx: Ctx, range: DayRange, filter: MetricsFilter): Promise<LargestRows> {
  const { startAt, endAt } = resolveRange(ctx, range);
  // Counts the pending events first, so that the table agrees with the others of the page.
  await countPendingRecipients(ctx);
  const query = { startAt, endAt, filter: { ...filter, tag: undefined }, dimensions: ["tag"] } as const;
  return sumLargest(ctx, query, rowsShown);
}

/** The time of a range. It ends now if the last day has not ended. 422 if the range is invalid. */
function resolveRange({ clock }: Pick<Ctx, "clock">, { since, until }: DayRange) {
  const nowMs = clock().getTime();
  const startMs = Date.parse(`${since}T00:00:00Z`);
  const lastDayEndMs = Date.parse(`${until}T00:00:00Z`) + dayMs;
  const days = (lastDayEndMs - startMs) / dayMs;
  if (!(days >= 1)) throw new AppError("invalid", "The first day is after the last one. Select another day.");
  if (days > rangeDaysMax)
    throw new AppError("invalid", `The range has ${days} days. Select at most ${rangeDaysMax}.`);
  const isCurrent = nowMs < lastDayEndMs;
  const endMs = isCurrent ? Math.max(nowMs, startMs) : lastDayEndMs;
  return { startAt: new Date(startMs), endAt: new Date(endMs), days, isCurrent };
}

/**
 * The counts of a time that can end within an hour. Counts are by hour, so the elapsed share of the last hour
 * counts, rounded: with the whole hour, every comparison with a time that has not ended would be too low.
 */
async function sumPrevious(
  ctx: Ctx,
  { startMs, endMs }: { startMs: number; endMs: number },
  filter: MetricsFilter,
): Promise<RecipientCounts> {
  const lastHourMs = Math.floor(endMs / hourMs) * hourMs;
  const sumBetween = (fromMs: number, untilMs: number) =>
    sumCounts(ctx, { startAt: new Date(fromMs), endAt: new Date(untilMs), filter, dimensions: [] });
  const [[fullHours], [lastHour]] = await Promise.all([
    sumBetween(startMs, lastHourMs),
    sumBetween(lastHourMs, endMs),
  ]);
  if (!fullHours || !lastHour) throw new Error("a sum returned no row");
  const share = (endMs - lastHourMs) / hourMs;
  const names = Object.keys(fullHours) as (keyof RecipientCounts)[];
  return Object.fromEntries(
    names.map((name) => [name, fullHours[name] + Math.round(lastHour[name] * share)]),
  ) as RecipientCounts;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
