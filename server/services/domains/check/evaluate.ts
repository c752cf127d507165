import type { CheckKey, DomainStatus, RecordCheck } from "#db/schema/domains";
import { hourMs, minuteMs } from "#server/shared/durations";

/**
 * Intervals of the automatic checks of an unverified domain, by the time since verification was requested.
 */
export const RECHECK_INTERVALS = [
  { untilMs: 10 * minuteMs, everyMs: minuteMs },
  { untilMs: hourMs, everyMs: 5 * minuteMs },
  { untilMs: 6 * hourMs, everyMs: 30 * minuteMs },
  { untilMs: 72 * hourMs, everyMs: 4 * hourMs },
] as const;

/** Check intervals of a verified domain: daily, and more often while a check fails. */
export const VERIFIED_INTERVALS = { everyMs: 24 * hourMs, whileFailingMs: 6 * hourMs } as const;

/** Verification is lost after this many definite failures, the first at least this long ago. */
export const LOSS = { failedChecks: 4, failingMs: 72 * hourMs } as const;

/** How long a record may be missing before it counts as failed. */
const missingMsMax = 72 * hourMs;

/** The records that a domain needs to become verified. */
export const REQUIRED: readonly CheckKey[] = ["dkim", "ownership", "mx", "spf"];

/**
 * The records that a domain needs to stay verified: they prove ownership. The records for bounces may fail
 * for a while.
 */
export const PROOF: readonly CheckKey[] = ["dkim", "ownership"];

export type VerificationState = {
  status: DomainStatus;
  /** True if the operator verified the domain manually. */
  isDeclared: boolean;
  /** Time since the first failed check, or since verification was requested; null if neither applies. */
  failingForMs: number | null;
  failedChecks: number;
};

export type Evaluation = {
  status: DomainStatus;
  checks: RecordCheck[];
  /** Whether the period of failure continues; false ends it. */
  isFailing: boolean;
  failedChecks: number;
  /** Null: no further automatic check. */
  nextCheckMs: number | null;
};

/**
 * Computes the new state of a domain from one check. A single failed check never removes verification, nor
 * does an inconclusive one. A domain that the operator verified manually never changes.
 */
export function evaluateChecks(before: VerificationState, checks: RecordCheck[]): Evaluation {
  if (before.isDeclared) {
    const nextCheckMs = VERIFIED_INTERVALS.everyMs;
    return { status: "verified", checks, isFailing: false, failedChecks: 0, nextCheckMs };
  }
  return before.status === "verified" ? evaluateVerified(before, checks) : evaluateUnverified(before, checks);
}

function evaluateVerified(before: VerificationState, found: RecordCheck[]): Evaluation {
  const checks = found.map(toFailed);
  const proof = checks.filter(({ key }) => PROOF.includes(key));
  const isInconclusive = proof.some(({ status }) => status === "temporary_failure");
  const isBad = proof.length === 0 || proof.some(({ status }) => status === "failed");
  const failedChecks = isBad ? before.failedChecks + 1 : isInconclusive ? before.failedChecks : 0;
  const isFailing = failedChecks > 0;
  const isLost = isBad && failedChecks >= LOSS.failedChecks && (before.failingForMs ?? 0) >= LOSS.failingMs;
  if (isLost) return { status: statusOf(checks), checks, isFailing, failedChecks, nextCheckMs: null };
  const nextCheckMs =
    isFailing || isInconclusive ? VERIFIED_INTERVALS.whileFailingMs : VERIFIED_INTERVALS.everyMs;
  return { status: "verified", checks, isFailing, failedChecks, nextCheckMs };
}

function evaluateUnverified(before: VerificationState, found: RecordCheck[]): Evaluation {
  const ageMs = before.failingForMs ?? 0;
  const checks = ageMs < missingMsMax ? found : found.map(toFailed);
  const status = statusOf(checks);
  if (status === "verified")
    return { status, checks, isFailing: false, failedChecks: 0, nextCheckMs: VERIFIED_INTERVALS.everyMs };
  return { status, checks, isFailing: true, failedChecks: 0, nextCheckMs: nextCheckInMs(ageMs) };
}

/**
 * Time until the next check, by how long the record has been awaited, in ms; null when checks have stopped.
 */
export const nextCheckInMs = (ageMs: number): number | null =>
  RECHECK_INTERVALS.find(({ untilMs }) => ageMs < untilMs)?.everyMs ?? null;

/** Records of keys that take over or join once they are found; they are not a fault while missing. */
const OPTIONAL: readonly CheckKey[] = ["dkim_next", "dkim_ed25519"];

/** A missing record that existed before, or whose time to appear is over, is failed instead of pending. */
const toFailed = (check: RecordCheck): RecordCheck =>
  check.status === "pending" && !OPTIONAL.includes(check.key) ? { ...check, status: "failed" } : check;

/**
 * The same result while another team keeps its verification of the name: the domain stays pending, and the
 * ownership record explains why.
 */
export function awaitRelease(before: VerificationState, evaluation: Evaluation, reason: string): Evaluation {
  const checks = evaluation.checks.map(
    (check): RecordCheck =>
      check.key === "ownership"
        ? { ...check, status: "pending", fault: "held_elsewhere", advice: reason }
        : check,
  );
  const nextCheckMs = nextCheckInMs(before.failingForMs ?? 0);
  return { status: "pending", checks, isFailing: true, failedChecks: 0, nextCheckMs };
}

/** The status of a domain by its required records. Without required records it cannot be verified. */
export function statusOf(checks: RecordCheck[]): DomainStatus {
  const required = checks.filter(({ key, expected }) => REQUIRED.includes(key) && expected !== null);
  const has = (...statuses: RecordCheck["status"][]) =>
    required.some(({ status }) => statuses.includes(status));
  if (has("failed")) return has("verified") ? "partially_failed" : "failed";
  if (has("pending", "temporary_failure")) return has("verified") ? "partially_verified" : "pending";
  return required.some(({ key }) => key === "ownership") ? "verified" : "pending";
}
