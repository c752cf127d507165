import type { OutsideResponse } from "#server/platform/egress/call";

/** Class of a response: succeeded, endpoint gone, or failed with a later retry. */
export type Classification =
  | { kind: "succeeded" }
  | { kind: "gone" }
  /** `pauseMs`: pause for all events of the endpoint; null without one. */
  | { kind: "failed"; pauseMs: number | null };

const GONE = 410;
/** Statuses of an overloaded endpoint, which is paused (Standard Webhooks). */
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 504]);
const pauseMs = 30_000;
/** Upper bound of a pause, because a wrong Retry-After must not stop an endpoint for days. */
const pauseMsMax = 12 * 3_600_000;

/** Classifies a response. Any 2xx is a success. Redirects are not followed and count as failures. */
export function classifyResponse(response: OutsideResponse, now: Date): Classification {
  if (response.kind === "fault") return { kind: "failed", pauseMs: null };
  const { status, headers } = response;
  if (status >= 200 && status < 300) return { kind: "succeeded" };
  if (status === GONE) return { kind: "gone" };
  const requestedPauseMs = parseRetryAfter(headers["retry-after"], now);
  return { kind: "failed", pauseMs: requestedPauseMs ?? (OVERLOADED.has(status) ? pauseMs : null) };
}

/** Parses Retry-After in seconds or as a date (RFC 9110 section 10.2.3) to milliseconds from now; null if invalid. */
function parseRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now.getTime();
  return ms > 0 ? Math.min(ms, pauseMsMax) : null;
}
