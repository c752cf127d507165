import type { CheckKey, DomainStatus, RecordCheck } from "#db/schema/domains";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** When a domain that is not verified yet is looked at again, by the time since verification was asked for. */
export const LOOK_AGAIN = [
  { untilMs: 10 * minuteMs, everyMs: minuteMs },
  { untilMs: hourMs, everyMs: 5 * minuteMs },
  { untilMs: 6 * hourMs, everyMs: 30 * minuteMs },
  { untilMs: 72 * hourMs, everyMs: 4 * hourMs },
] as const;

/** A verified domain is looked at daily, and while it is not found in order more often. */
export const VERIFIED_LOOK = { everyMs: 24 * hourMs, whileFailingMs: 6 * hourMs } as const;

/** What takes the verification away: this many bad looks without doubt, the first at least so long ago. */
export const LOSS = { failedLooks: 4, failingMs: 72 * hourMs } as const;

/** How long a record may be missing before that is a failure. */
const missingMsMax = 72 * hourMs;

/** The records without which a domain does not become verified. */
export const REQUIRED: readonly CheckKey[] = ["dkim", "ownership", "mx", "spf"];

/** The records without which it does not stay so: they show whose name it is. What carries bounces may break for a while. */
const PROOF: readonly CheckKey[] = ["dkim", "ownership"];

export type Standing = {
  status: DomainStatus;
  /** True where the operator's word stands in place of DNS. */
  isDeclared: boolean;
  /** Since the first bad look, or since verification was asked for; null where neither was. */
  failingForMs: number | null;
  failedLooks: number;
};

export type Judgement = {
  status: DomainStatus;
  checks: RecordCheck[];
  /** Whether the time of failing runs on, or has its end. */
  isFailing: boolean;
  failedLooks: number;
  /** Null: not by itself any more. */
  nextLookMs: number | null;
};

/**
 * What one look changes about a domain. A single bad look never takes a verification away, an answer that nobody could
 * give never does, and what the operator declared no look at all does.
 */
export function judgeLook(before: Standing, checks: RecordCheck[]): Judgement {
  if (before.isDeclared)
    return { status: "verified", checks, isFailing: false, failedLooks: 0, nextLookMs: null };
  return before.status === "verified" ? judgeVerified(before, checks) : judgeOther(before, checks);
}

function judgeVerified(before: Standing, found: RecordCheck[]): Judgement {
  const checks = found.map(toFailed);
  const proof = checks.filter(({ key }) => PROOF.includes(key));
  const isDoubtful = proof.some(({ status }) => status === "temporary_failure");
  const isBad = proof.length === 0 || proof.some(({ status }) => status === "failed");
  const failedLooks = isBad ? before.failedLooks + 1 : isDoubtful ? before.failedLooks : 0;
  const isFailing = failedLooks > 0;
  const isLost = isBad && failedLooks >= LOSS.failedLooks && (before.failingForMs ?? 0) >= LOSS.failingMs;
  if (isLost) return { status: statusOf(checks), checks, isFailing, failedLooks, nextLookMs: null };
  const nextLookMs = isFailing || isDoubtful ? VERIFIED_LOOK.whileFailingMs : VERIFIED_LOOK.everyMs;
  return { status: "verified", checks, isFailing, failedLooks, nextLookMs };
}

function judgeOther(before: Standing, found: RecordCheck[]): Judgement {
  const ageMs = before.failingForMs ?? 0;
  const checks = ageMs < missingMsMax ? found : found.map(toFailed);
  const status = statusOf(checks);
  if (status === "verified")
    return { status, checks, isFailing: false, failedLooks: 0, nextLookMs: VERIFIED_LOOK.everyMs };
  return { status, checks, isFailing: true, failedLooks: 0, nextLookMs: lookAgainMs(ageMs) };
}

/** Until the next look at what has been awaited for so long; null where it is not awaited any more. */
export const lookAgainMs = (ageMs: number): number | null =>
  LOOK_AGAIN.find(({ untilMs }) => ageMs < untilMs)?.everyMs ?? null;

/** The records of keys that take over, or join, whenever they are seen: nothing is wrong while they are not. */
const OPTIONAL: readonly CheckKey[] = ["dkim_next", "dkim_ed25519"];

/** A record that was there, or had its time to appear, and is missing is no longer awaited. */
const toFailed = (check: RecordCheck): RecordCheck =>
  check.status === "pending" && !OPTIONAL.includes(check.key) ? { ...check, status: "failed" } : check;

/** The status of a domain by its required records. Without any there is nothing that could verify it. */
function statusOf(checks: RecordCheck[]): DomainStatus {
  const required = checks.filter(({ key, expected }) => REQUIRED.includes(key) && expected !== null);
  const has = (...statuses: RecordCheck["status"][]) =>
    required.some(({ status }) => statuses.includes(status));
  if (has("failed")) return has("verified") ? "partially_failed" : "failed";
  if (has("pending", "temporary_failure")) return has("verified") ? "partially_verified" : "pending";
  return required.some(({ key }) => key === "ownership") ? "verified" : "pending";
}
