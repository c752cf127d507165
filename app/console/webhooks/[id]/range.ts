import type { WebhookEvent } from "#server/services/webhooks/events/types";

/** The values of the range form. */
export type RangeFields = {
  status: "failed" | "success";
  span: "hour" | "day" | "week" | "own";
  /** Values of `datetime-local` fields, in the local time zone of the user. Empty `until`: now. */
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

/** The range of the form. Its end is `nowMs` unless the form sets one. Null if a time is missing or out of order. */
export function parseRange({ status, span, since, until, type }: RangeFields, nowMs: number): Range | null {
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
