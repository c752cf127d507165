import type { OutsideAnswer } from "#server/egress/outside";

/** What an answer says: taken, never again, or not this time. */
export type Judgement =
  | { kind: "taken" }
  | { kind: "gone" }
  /** `pauseMs`: the endpoint as a whole wants to be left alone for so long. */
  | { kind: "refused"; pauseMs: number | null };

const GONE = 410;
/** Answers of somebody who has too much to do; each further call makes it worse (Standard Webhooks). */
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 504]);
const pauseMs = 30_000;
/** A pause that somebody asks for by mistake must not silence the endpoint for good. */
const pauseMsMax = 12 * 3_600_000;

/** Judges one call. Any 2xx is a yes; a redirect is not followed and therefore a no. */
export function judgeAnswer(answer: OutsideAnswer, now: Date): Judgement {
  if (answer.kind === "fault") return { kind: "refused", pauseMs: null };
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return { kind: "taken" };
  if (status === GONE) return { kind: "gone" };
  const asked = readRetryAfter(headers["retry-after"], now);
  return { kind: "refused", pauseMs: asked ?? (OVERLOADED.has(status) ? pauseMs : null) };
}

/** Retry-After in seconds or as a date (RFC 9110 section 10.2.3), from now in milliseconds; null for anything else. */
function readRetryAfter(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now.getTime();
  return ms > 0 ? Math.min(ms, pauseMsMax) : null;
}
