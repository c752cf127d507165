import type { EventData, EventType } from "#db/schema/events";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import { isDeadAddress } from "#server/mail/bounce/dead-address";
import { getAdvice, type Outcome } from "#server/mail/outcome";
import { findProviderOfHost } from "#server/mail/provider-class";
import { newId } from "#server/platform/ids";
import { reportedEntry } from "#server/services/suppressions/suppress";
import type { ReplyClass } from "#server/shared/reply-classes";
import type { Claim } from "../queue/claims";
import type { DeliveryResult } from "../queue/record-results";
import { type Retry, type RetryContext, retryOf } from "./retry";

/** Inputs of the delivery policy besides the outcome. */
export type OutcomeContext = RetryContext & {
  /** Number of recipients in this attempt's transaction. Default: 1. */
  recipients?: number;
  /** True if acceptance means delivered: captured email, direct delivery and scripted recipients. */
  isFinal: boolean;
  /** A scripted recipient that sends a complaint after delivery. */
  complains?: boolean;
};

/**
 * Converts the outcome of an attempt into the result to record: the new status, the next attempt with its
 * wait rule (see `retryOf`), the suppression of a dead address and the events. This function is the whole
 * delivery policy.
 */
export function settleOutcome(claim: Claim, outcome: Outcome, context: OutcomeContext): DeliveryResult {
  const settled = settle(claim, outcome, context);
  const provider = context.isFinal ? findProviderOfHost(claim.domain, outcome.host) : null;
  const [first, ...others] = settled.events;
  if (provider === null || !first) return settled;
  return { ...settled, events: [{ ...first, data: { ...first.data, provider } }, ...others] };
}

function settle(claim: Claim, outcome: Outcome, context: OutcomeContext): DeliveryResult {
  const retry = retryOf(claim.attempt, outcome, context);
  const { policy } = context;
  switch (outcome.kind) {
    case "accepted":
      if (context.complains) {
        const types: EventType[] = ["email.sent", "email.delivered", "email.complained"];
        return withSuppression("complaint", claim, result(claim, outcome, "complained", types));
      }
      if (context.isFinal) return result(claim, outcome, "delivered", ["email.sent", "email.delivered"]);
      return result(claim, outcome, "sent", ["email.sent"]);
    case "deferred": {
      if (retry) return retryResult(claim, outcome, retry, "email.delivery_delayed");
      const reason = `Failed after ${claim.attempt} attempts. ${outcome.reason}`;
      return result(claim, { ...outcome, reason }, "failed", ["email.failed"]);
    }
    case "rejected": {
      const reason = `${outcome.reason} ${RECHECK_NOTICE}`;
      // `lastReason` is that of the previous attempt: an equal one confirms the rejection.
      if (retry && claim.lastReason !== reason)
        return retryResult(claim, { ...outcome, reason }, retry, "email.delivery_delayed");
      // Without a reply, our side rejected it, for example a message above the size limit that the server
      // announced.
      if (outcome.reply === null) return result(claim, outcome, "failed", ["email.failed"]);
      const origin = isDeadAddress(outcome, context.recipients ?? 1) ? "bounce" : null;
      return withSuppression(origin, claim, result(claim, outcome, "bounced", ["email.bounced"]));
    }
    case "unknown":
      if (retry) return retryResult(claim, outcome, retry, "email.unknown", { policy });
      return result(claim, outcome, "unknown", ["email.unknown"], { policy });
  }
}

const RECHECK_NOTICE = "A second DNS query must confirm this before the delivery fails.";

/** A rejection on our side: nothing was sent, and nothing will be. */
export const settleFailure = (claim: Claim, reason: string): DeliveryResult =>
  result(claim, ownRejection(claim, reason), "failed", ["email.failed"]);

const SUPPRESSED_BY = {
  bounce: "previous_bounce",
  complaint: "previous_complaint",
  unsubscribe: "unsubscribe",
  manual: "manual",
} as const satisfies Record<SuppressionOrigin, EventData["suppressedBy"]>;

const SUPPRESSED_REASON: Record<SuppressionOrigin, string> = {
  bounce: "The address is on the suppression list because an earlier email to it bounced. Nothing was sent.",
  complaint:
    "The address is on the suppression list because its owner marked an email as spam. Nothing was sent.",
  unsubscribe: "The recipient unsubscribed from such email. Nothing was sent.",
  manual: "The address was added to the suppression list manually. Nothing was sent.",
};

/** A recipient on the team's suppression list: suppressed without an attempt. */
export const settleSuppressed = (claim: Claim, origin: SuppressionOrigin): DeliveryResult =>
  suppressedResult(claim, SUPPRESSED_REASON[origin], { suppressedBy: SUPPRESSED_BY[origin] });

/** A scripted recipient with the outcome `suppressed`; it is on no suppression list. */
export const settleScriptedSuppressed = (claim: Claim, reason: string): DeliveryResult =>
  suppressedResult(claim, reason, {});

const suppressedResult = (claim: Claim, reason: string, more: EventData): DeliveryResult =>
  result(claim, ownRejection(claim, reason), "suppressed", ["email.suppressed"], more);

const ownRejection = ({ address: recipient }: Claim, reason: string): Outcome => ({
  recipient,
  kind: "rejected",
  reply: null,
  host: null,
  reason,
});

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
  const { reply, host, reason, dialogue, replyRule } = outcome;
  const replyClass = outcome.class ?? classOfAlarm(outcome);
  const classification = replyClass === undefined ? {} : { class: replyClass, advice: getAdvice(replyClass) };
  const { attempt } = claim;
  const classified = { ...classification, ...(replyRule !== undefined && { replyRule }) };
  const data: EventData = { attempt, host, reply, reason, ...classified, dialogue, ...more };
  return {
    teamId: claim.teamId,
    emailId: claim.emailId,
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
    events: types.map((type, index) => ({ id: newId(), type, data: index === 0 ? data : { attempt } })),
  };
}

/** Class of an alarm without a reply, for example while a failed login is not retried. */
function classOfAlarm({ alarm }: Outcome): ReplyClass | undefined {
  return alarm === "auth" ? "login" : alarm === "tls" ? "tls" : undefined;
}

function retryResult(
  claim: Claim,
  outcome: Outcome,
  { rule, waitMs, isUncounted }: Retry,
  type: EventType,
  more: EventData = {},
): DeliveryResult {
  const settled = result(claim, outcome, "queued", [type], { rule, ...more });
  return { ...settled, retryAfterMs: waitMs, waitRule: rule, isUncounted };
}
