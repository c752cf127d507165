import type { WebhookEvent } from "#server/services/webhooks/event-types";

/** What the form of a range holds. */
export type RangeFields = {
  status: "failed" | "success";
  span: "hour" | "day" | "week" | "own";
  /** As `datetime-local` fields have them, in the reader's own zone; `until` empty for now. */
  since: string;
  until: string;
  type: WebhookEvent | "";
};

export const EMPTY_RANGE: RangeFields = { status: "failed", span: "day", since: "", until: "", type: "" };

export type Range = {
  since: string;
  until: string;
  status: "failed" | "success";
  type: WebhookEvent | null;
};

const HOURS = { hour: 1, day: 24, week: 168 };
const hourMs = 3_600_000;

/** The range that the form describes, up to `nowMs` at most, so that it has an end; null while a time is missing. */
export function rangeOf({ status, span, since, until, type }: RangeFields, nowMs: number): Range | null {
  const sinceMs = span === "own" ? Date.parse(since) : nowMs - HOURS[span] * hourMs;
  const untilMs = span === "own" && until !== "" ? Date.parse(until) : nowMs;
  if (!Number.isFinite(sinceMs) || !Number.isFinite(untilMs) || untilMs <= sinceMs) return null;
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    status,
    type: type || null,
  };
}
