import { dayMs, hourMs } from "#server/shared/durations";

export const GRANULARITIES = ["hourly", "daily", "weekly", "monthly"] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/**
 * A period: a name such as `2026-07-01`, and the time at which it begins. It ends where the next one begins.
 */
export type Period = { name: string; startsAt: Date };

/** True for a time zone of the IANA database, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== null;
  } catch {
    return false;
  }
}

/**
 * The periods that overlap the time from `startAt` until before `endAt`, in order; at most `max` and one
 * more. Days, weeks (from Monday) and months begin at midnight of the time zone and are named by their first
 * day. Hours are named by their start in UTC.
 */
export function listPeriods(
  { startAt, endAt, timeZone }: { startAt: Date; endAt: Date; timeZone: string },
  granularity: Granularity,
  max: number,
): Period[] {
  if (granularity === "hourly") return listHours(startAt, endAt, max);
  const offsetMsOf = createOffsets(timeZone);
  const localStart = new Date(startAt.getTime() + offsetMsOf(startAt.getTime()));
  const periods: Period[] = [];
  // A local time is a Date whose UTC fields are the local ones.
  for (let day = firstDay(localStart, granularity); periods.length <= max; day = nextDay(day, granularity)) {
    const startsAt = new Date(toInstant(day.getTime(), offsetMsOf));
    if (startsAt >= endAt) break;
    periods.push({ name: day.toISOString().slice(0, 10), startsAt });
  }
  return periods;
}

/** The time at which a day such as `2026-07-01` begins in a time zone. */
export const startOfDay = (day: string, timeZone: string): Date =>
  new Date(toInstant(Date.parse(`${day}T00:00:00Z`), createOffsets(timeZone)));

/** The day of a time in a time zone, such as `2026-07-01`. */
export const dayOf = (at: Date, timeZone: string): string =>
  new Date(at.getTime() + createOffsets(timeZone)(at.getTime())).toISOString().slice(0, 10);

function listHours(startAt: Date, endAt: Date, max: number): Period[] {
  const firstMs = Math.floor(startAt.getTime() / hourMs) * hourMs;
  const hours = Math.max(0, Math.min(Math.ceil((endAt.getTime() - firstMs) / hourMs), max + 1));
  return Array.from({ length: hours }, (_, nth) => {
    const startsAt = new Date(firstMs + nth * hourMs);
    return { name: startsAt.toISOString(), startsAt };
  });
}

function firstDay(local: Date, granularity: Granularity): Date {
  const day = new Date(Math.floor(local.getTime() / dayMs) * dayMs);
  if (granularity === "weekly") day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  if (granularity === "monthly") day.setUTCDate(1);
  return day;
}

function nextDay(day: Date, granularity: Granularity): Date {
  const next = new Date(day);
  if (granularity === "monthly") next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCDate(next.getUTCDate() + (granularity === "weekly" ? 7 : 1));
  return next;
}

/** The instant of a local time. The offset before a change of the clocks can differ from the one after it. */
function toInstant(localMs: number, offsetMsOf: (atMs: number) => number): number {
  const guessMs = localMs - offsetMsOf(localMs);
  return localMs - offsetMsOf(guessMs);
}

/** Returns the function that calculates the offset of the time zone from UTC at a time. */
function createOffsets(timeZone: string): (atMs: number) => number {
  if (timeZone === "UTC") return () => 0;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const field = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
    const localMs = Date.UTC(
      field("year"),
      field("month") - 1,
      field("day"),
      field("hour"),
      field("minute"),
      field("second"),
    );
    return localMs - Math.floor(atMs / 1_000) * 1_000;
  };
}
