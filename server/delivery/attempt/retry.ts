import type { UnknownPolicy } from "#db/schema/teams";
import type { Outcome } from "#server/mail/outcome";
import { statedWaitMs } from "#server/mail/replies/stated-wait";

/**
 * Minutes to wait after the nth failed attempt, about four days in total: RFC 5321 section 4.5.4.1 recommends
 * 4 to 5 days. The short first waits are for greylisting and for servers that are unavailable for a moment.
 * They apply to deferred attempts: `outcomeOfReply` in mail/outcome.ts decides that a 4xx reply defers.
 */
export const RETRY_AFTER_MINUTES = [1, 5, 15, 30, 60, 120, 240, 480, 720, 1440, 1440, 1440] as const;

export const attemptsMax = RETRY_AFTER_MINUTES.length + 1;

/**
 * Relative jitter, which spreads the retries of deliveries that failed at the same time. A wait from the
 * table or after a transport fault varies by this fraction in both directions. A wait that a server states,
 * or that a probe of a relay ends, is only lengthened.
 */
const jitter = 0.2;
/**
 * Up to this attempt of a delivery, a greylisting reply is followed by the wait that it states, or by 5
 * minutes. Later attempts use the table above.
 */
const greylistedUntilAttempt = 4;
const greylistWaitMs = { min: 60_000, usual: 5 * 60_000, max: 15 * 60_000 };
/** After a fault of our transport: its login or TLS. */
const transportFaultWaitMs = 15 * 60_000;
/** After all relays failed: not before the paused relays were probed again. */
const relayWaitMs = 60_000;

/**
 * Why and when a delivery is attempted again. `isUncounted`: this attempt does not count towards the maximum.
 */
export type Retry = {
  rule: "retry_schedule" | "greylisted" | "transport_fault" | "relay_paused" | "unknown_retry";
  waitMs: number;
  isUncounted?: boolean;
};

/** Inputs of the retry policy besides the outcome. */
export type RetryContext = {
  /** Whether an attempt with an unknown outcome is repeated. */
  policy: UnknownPolicy;
  /** In [0, 1). */
  random: number;
  /** Replaces the retry table, for the test addresses of the built-in domain. */
  scriptedWaitMs?: number;
  /**
   * The route has relays: after a fault of the route the delivery waits for the next probe of a relay,
   * without limit.
   */
  retriesFaultsIndefinitely?: boolean;
};

/**
 * The next attempt after this outcome of the nth attempt; null if the outcome is final (`settleOutcome`
 * records it).
 */
export function retryOf(attempt: number, outcome: Outcome, context: RetryContext): Retry | null {
  const { random, policy } = context;
  const { kind, alarm } = outcome;
  if (kind === "deferred") {
    // A fault of our transport (`alarm`) never bounces email: the delivery waits until the operator fixes it.
    // Such attempts are not counted, except the first: a delivery that was attempted has a count of at least
    // 1.
    const isUncounted = attempt > 1;
    if (alarm !== undefined && context.retriesFaultsIndefinitely)
      return { rule: "relay_paused", waitMs: Math.round(relayWaitMs * (1 + jitter * random)), isUncounted };
    if (alarm === "auth" || alarm === "tls")
      return { rule: "transport_fault", waitMs: withJitter(transportFaultWaitMs, random), isUncounted };
  }
  const waitMs = context.scriptedWaitMs ?? retryAfterMs(attempt, random);
  if (waitMs === null || attempt >= attemptsMax) return null;
  if (kind === "unknown") return policy === "retry" ? { rule: "unknown_retry", waitMs } : null;
  const isGreylisted = kind === "deferred" && outcome.class === "greylist";
  if (isGreylisted && attempt <= greylistedUntilAttempt && context.scriptedWaitMs === undefined) {
    // The wait that the server requested in its reply, but at least 1 and at most 15 minutes plus jitter.
    const { min, usual, max } = greylistWaitMs;
    const requestedMs = Math.min(Math.max(statedWaitMs(outcome.reply?.text ?? "") ?? usual, min), max);
    return { rule: "greylisted", waitMs: Math.round(requestedMs * (1 + jitter * random)) };
  }
  return kind === "deferred" || outcome.needsConfirmation ? { rule: "retry_schedule", waitMs } : null;
}

/**
 * Milliseconds to wait after the nth attempt by the table, or null after the last one. `random` is in [0, 1).
 */
export function retryAfterMs(attempt: number, random: number): number | null {
  const minutes = RETRY_AFTER_MINUTES[attempt - 1];
  return minutes === undefined ? null : withJitter(minutes * 60_000, random);
}

const withJitter = (ms: number, random: number): number =>
  Math.round(ms * (1 - jitter + 2 * jitter * random));
