import { casual } from "chrono-node/en";

const daysAheadMax = 30;
const dayMs = 86_400_000;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i;

export type ScheduledTime = { ok: true; at: Date } | { ok: false; fault: string };

const refuse = (fault: string): ScheduledTime => ({ ok: false, fault });
const FORM =
  "Give ISO 8601 with a zone, as 2030-01-31T09:00:00Z, or words such as `in 1 hour` or `tomorrow at 9am ET`.";

/**
 * Reads when a mail shall go out: ISO 8601, or English words, at most 30 days ahead. What names no time zone is read in
 * UTC, whatever the zone of this machine.
 */
export function readScheduledAt(text: string, now: Date): ScheduledTime {
  const at = ISO.test(text.trim()) ? readIso(text.trim()) : readWords(text, now);
  if (!at || Number.isNaN(at.getTime()))
    return refuse(`"${text.slice(0, 60)}" is no time that we understand. ${FORM}`);
  const aheadMs = at.getTime() - now.getTime();
  if (aheadMs <= 0) return refuse(`${at.toISOString()} is in the past. Leave the field out to send at once.`);
  if (aheadMs > daysAheadMax * dayMs)
    return refuse(`${at.toISOString()} is more than ${daysAheadMax} days ahead.`);
  return { ok: true, at };
}

function readIso(text: string): Date {
  return new Date(/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);
}

function readWords(text: string, now: Date): Date | null {
  const [found] = casual.parse(text, { instant: now, timezone: "UTC" }, { forwardDate: true });
  // Words around the time would be words that we did not understand.
  const isWhole =
    found &&
    found.text.length === text.trim().length - text.trim().indexOf(found.text) &&
    text.trim().indexOf(found.text) === 0;
  return isWhole ? found.start.date() : null;
}
