import type { EventData, EventType } from "#db/schema/events";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { UnknownPolicy } from "#db/schema/teams";
import { isDeadAddress } from "#server/mail/bounce/dead-address";
import { getAdvice, type Outcome } from "#server/mail/outcome";
import type { ReplyClass } from "#server/mail/replies/classes";
import { statedWaitMs } from "#server/mail/replies/stated-wait";
import { newId } from "#server/platform/ids";
import { reportedEntry } from "#server/services/suppressions/suppress";
import type { Claim } from "../queue/claims";
import type { DeliveryResult } from "../queue/record-results";
import { attemptsMax, greylistRetryMs, relayRetryMs, retryAfterMs, transportFaultRetryMs } from "./retry";

/** Inputs of the delivery policy besides the outcome. */
export type OutcomeContext = {
  policy: UnknownPolicy;
  /** In [0, 1). */
  random: number;
  /** Number of recipients in this attempt's transaction. Default: 1. */
  recipients?: number;
  /** True if acceptance means delivered: captured email, direct delivery and scripted recipients. */
  isFinal: boolean;
  /** Replaces the retry table, for scripted recipients. */
  retryAfterMs?: number;
  /** A scripted recipient that sends a complaint after delivery. */
  complains?: boolean;
  /** Faults of the route itself (login, TLS) are retried without limit. */
  retriesFaultsIndefinitely?: boolean;
};

/**
 * Converts the outcome of an attempt into the result to record: the new status, the next attempt with its wait rule, and the
 * events. This function is the whole delivery policy.
 */
export function settleOutcome(claim: Claim, outcome: Outcome, context: OutcomeContext): DeliveryResult {
  const waitMs = context.retryAfterMs ?? retryAfterMs(claim.attempt, context.random);
  const mayRetry = waitMs !== null && claim.attempt < attemptsMax;
  switch (outcome.kind) {
    case "accepted":
      if (context.complains)
        return withSuppression(
          "complaint",
          claim,
          result(claim, outcome, "complained", ["email.sent", "email.delivered", "email.complained"]),
        );
      if (context.isFinal) return result(claim, outcome, "delivered", ["email.sent", "email.delivered"]);
      return result(claim, outcome, "sent", ["email.sent"]);
    case "deferred":
      // A fault in our configuration never bounces email. The delivery waits until the operator fixes it.
      if (context.retriesFaultsIndefinitely && outcome.alarm !== undefined)
        return {
          ...retryResult(
            claim,
            outcome,
            "relay_paused",
            relayRetryMs(context.random),
            "email.delivery_delayed",
          ),
          isUncounted: claim.attempt > 1,
        };
      if (outcome.alarm === "auth" || outcome.alarm === "tls")
        return {
          ...retryResult(
            claim,
            outcome,
            "transport_fault",
            transportFaultRetryMs(context.random),
            "email.delivery_delayed",
          ),
          isUncounted: claim.attempt > 1,
        };
      if (mayRetry && outcome.class === "greylist" && context.retryAfterMs === undefined) {
        const greylistMs = greylistRetryMs(
          claim.attempt,
          statedWaitMs(outcome.reply?.text ?? ""),
          context.random,
        );
        if (greylistMs !== null)
          return retryResult(claim, outcome, "greylisted", greylistMs, "email.delivery_delayed");
      }
      if (mayRetry) return retryResult(claim, outcome, "retry_schedule", waitMs, "email.delivery_delayed");
      return result(
        claim,
        { ...outcome, reason: `Failed after ${claim.attempt} attempts. ${outcome.reason}` },
        "failed",
        ["email.failed"],
      );
    case "rejected":
      if (outcome.needsConfirmation && mayRetry) {
        const reason = `${outcome.reason} ${RECHECK_NOTICE}`;
        // The row has the reason of the previous attempt.
        if (claim.lastReason !== reason)
          return retryResult(
            claim,
            { ...outcome, reason },
            "retry_schedule",
            waitMs,
            "email.delivery_delayed",
          );
      }
      // Without a reply, our side rejected it, for example a message above the size limit that the server announced.
      if (outcome.reply === null) return result(claim, outcome, "failed", ["email.failed"]);
      return withSuppression(
        isDeadAddress(outcome, context.recipients ?? 1) ? "bounce" : null,
        claim,
        result(claim, outcome, "bounced", ["email.bounced"]),
      );
    case "unknown":
      if (context.policy === "retry" && mayRetry)
        return retryResult(claim, outcome, "unknown_retry", waitMs, "email.unknown", {
          policy: context.policy,
        });
      return result(claim, outcome, "unknown", ["email.unknown"], { policy: context.policy });
    default:
      return unreachable(outcome.kind);
  }
}

const RECHECK_NOTICE = "DNS is queried again before this delivery fails.";

/** A rejection on our side: nothing was sent, and nothing will be. */
export function settleFailure(claim: Claim, reason: string): DeliveryResult {
  return result(
    claim,
    { recipient: claim.address, kind: "rejected", reply: null, host: null, reason },
    "failed",
    ["email.failed"],
  );
}

const SUPPRESSED_BY = {
  bounce: "previous_bounce",
  complaint: "previous_complaint",
  manual: "manual",
} as const satisfies Record<SuppressionOrigin, EventData["suppressedBy"]>;

const SUPPRESSED_REASON: Record<SuppressionOrigin, string> = {
  bounce: "The address is on the suppression list because an earlier email to it bounced. Nothing was sent.",
  complaint:
    "The address is on the suppression list because its owner marked an email as spam. Nothing was sent.",
  manual: "The address was added to the suppression list manually. Nothing was sent.",
};

/** A recipient on the team's suppression list: suppressed without an attempt. */
export function settleSuppressed(claim: Claim, origin: SuppressionOrigin): DeliveryResult {
  return suppressedResult(claim, SUPPRESSED_REASON[origin], { suppressedBy: SUPPRESSED_BY[origin] });
}

/** A scripted recipient with the outcome `suppressed`; it is on no suppression list. */
export function settleScriptedSuppressed(claim: Claim, reason: string): DeliveryResult {
  return suppressedResult(claim, reason, {});
}

function suppressedResult(claim: Claim, reason: string, more: EventData): DeliveryResult {
  return result(
    claim,
    { recipient: claim.address, kind: "rejected", reply: null, host: null, reason },
    "suppressed",
    ["email.suppressed"],
    more,
  );
}

/** Adds a suppression to the result. */
function withSuppression(
  origin: SuppressionOrigin | null,
  claim: Claim,
  settled: DeliveryResult,
): DeliveryResult {
  const suppression = origin && reportedEntry(origin, claim);
  return suppression ? { ...settled, suppression } : settled;
}

function result(
  claim: Claim,
  outcome: Outcome,
  status: DeliveryResult["status"],
  types: EventType[],
  more: EventData = {},
): DeliveryResult {
  const { reply, host, reason, dialogue } = outcome;
  const replyClass = outcome.class ?? classOfAlarm(outcome);
  const classification = replyClass === undefined ? {} : { class: replyClass, advice: getAdvice(replyClass) };
  const data: EventData = {
    attempt: claim.attempt,
    host,
    reply,
    reason,
    ...classification,
    dialogue,
    ...more,
  };
  return {
    id: claim.id,
    leaseToken: claim.leaseToken,
    status,
    retryAfterMs: null,
    waitRule: null,
    code: reply?.code ?? null,
    enhanced: reply?.enhanced ?? null,
    text: reply?.text ?? null,
    host,
    reason,
    relayId: outcome.relayId ?? null,
    providerId: outcome.providerId ?? null,
    // Only the first event of an attempt has its SMTP dialogue.
    events: types.map((type, index) => ({
      id: newId(),
      type,
      data: index === 0 ? data : { attempt: claim.attempt },
    })),
  };
}

/** Class of an alarm without a reply, for example while a failed login is not retried. */
function classOfAlarm({ alarm }: Outcome): ReplyClass | undefined {
  return alarm === "auth" ? "login" : alarm === "tls" ? "tls" : undefined;
}

function retryResult(
  claim: Claim,
  outcome: Outcome,
  rule: "retry_schedule" | "greylisted" | "transport_fault" | "relay_paused" | "unknown_retry",
  waitMs: number,
  type: EventType,
  more: EventData = {},
): DeliveryResult {
  return {
    ...result(claim, outcome, "queued", [type], { rule, ...more }),
    retryAfterMs: waitMs,
    waitRule: rule,
  };
}

function unreachable(kind: never): never {
  throw new TypeError(`unknown outcome kind: ${String(kind)}`);
}
