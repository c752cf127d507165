import { casual } from "chrono-node/en";
import { z } from "zod";
import type { Ctx } from "#server/deps";
import { invalidField } from "#server/platform/errors";
import { dayMs } from "#server/shared/durations";

const daysAheadMax = 30;
/** A date in digits, whose day and month have another order in another country. */
const AMBIGUOUS_DATE = /(?<![\d/.-])\d{1,2}(?:\/\d{1,2}(?!\d)|([.-])\d{1,2}\1\d{2,4}(?!\d))/;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i;

export type ScheduledTime = { ok: true; at: Date } | { ok: false; fault: string };

const reject = (fault: string): ScheduledTime => ({ ok: false, fault });
const FORM =
  "Use ISO 8601 with a zone, such as 2030-01-31T09:00:00Z, or words such as `in 1 hour` or `tomorrow at 9am ET`.";

/**
 * Parses the time at which an email is sent: ISO 8601 or English words, at most 30 days ahead. A time without
 * a zone is in UTC, independent of this machine's zone. A date that does not exist is rejected, and so are a
 * date without a time of day, which the caller has to choose, and one whose day could be its month.
 */
export function resolveScheduledAt(given: string, now: Date): ScheduledTime {
  const text = given.trim();
  const day = /^\d{4}-\d{2}-\d{2}/.exec(text)?.[0];
  // `Date` would turn the 31st of November into the 1st of December.
  if (day !== undefined && !z.iso.date().safeParse(day).success)
    return reject(`${day} is not a valid date. ${FORM}`);
  const ambiguous = AMBIGUOUS_DATE.exec(text)?.[0];
  if (ambiguous !== undefined && day === undefined)
    return reject(`"${ambiguous}" is another day in another country. ${FORM}`);
  const read = ISO.test(text) ? { at: readIso(text), hasTime: true } : readWords(text, now);
  if (!read || Number.isNaN(read.at.getTime()))
    return reject(`"${text.slice(0, 60)}" is not a valid time. ${FORM}`);
  if (!read.hasTime) return reject(`"${text.slice(0, 60)}" needs a time. ${FORM}`);
  const { at } = read;
  const aheadMs = at.getTime() - now.getTime();
  if (aheadMs <= 0) return reject(`${at.toISOString()} is in the past. Omit the field to send immediately.`);
  if (aheadMs > daysAheadMax * dayMs)
    return reject(`${at.toISOString()} is more than ${daysAheadMax} days ahead. Choose an earlier time.`);
  return { ok: true, at };
}

/** Parses the caller's `scheduled_at`; 422 with an example of a valid time. */
export function parseScheduledAt(ctx: Ctx, text: string): Date {
  const read = resolveScheduledAt(text, ctx.clock());
  if (!read.ok) throw invalidField("scheduled_at", read.fault);
  return read.at;
}

function readIso(text: string): Date {
  return new Date(/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);
}

/** `hasTime`: the text contains a time of day, or a span from now as in "in 2 days". */
function readWords(text: string, now: Date): { at: Date; hasTime: boolean } | null {
  const [found] = casual.parse(text, { instant: now, timezone: "UTC" }, { forwardDate: true });
  // Text around the time would be text that was not parsed.
  if (found?.text !== text) return null;
  const { start } = found;
  return { at: start.date(), hasTime: start.isCertain("hour") || found.tags().has("result/relativeDate") };
}
