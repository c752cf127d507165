import { foldAddress } from "#db/fold-address";
import type { Claim } from "#db/queue";
import type { DeliveryResult } from "#db/results";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { EventData, EventType } from "#db/schema/events";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { UnknownPolicy } from "#db/schema/teams";
import { newId } from "#server/ids";
import { saysAddressIsDead } from "#server/mail/dead-address";
import { adviceOn, type Outcome } from "#server/mail/outcome";
import type { ReplyClass } from "#server/mail/replies/classes";
import { statedWaitMs } from "#server/mail/replies/stated-wait";
import { attemptsMax, greylistRetryMs, relayRetryMs, retryAfterMs, transportFaultRetryMs } from "./retry";

/** What the engine decides by, beside the outcome itself. */
export type Circumstances = {
  policy: UnknownPolicy;
  /** In [0, 1). */
  random: number;
  /** How many recipients the message was offered for in this attempt. Default: 1. */
  recipients?: number;
  /** True where acceptance is the end of the journey: captured mail and scripted recipients. */
  isFinal: boolean;
  /** Replaces the retry table, for scripted recipients. */
  retryAfterMs?: number;
  /** A scripted recipient that complains about what it was delivered. */
  complains?: boolean;
  /** The way out waits out faults of its own, without an end. */
  waitsOutFaults?: boolean;
};

/**
 * Turns what one attempt came to into what is written: the new status, the next attempt and its rule, and the events.
 * This is the whole delivery policy in one place.
 */
export function settleOutcome(claim: Claim, outcome: Outcome, given: Circumstances): DeliveryResult {
  const waitMs = given.retryAfterMs ?? retryAfterMs(claim.attempt, given.random);
  const mayRetry = waitMs !== null && claim.attempt < attemptsMax;
  switch (outcome.kind) {
    case "accepted":
      if (given.complains)
        return suppressing(
          "complaint",
          claim,
          result(claim, outcome, "complained", ["email.sent", "email.delivered", "email.complained"]),
        );
      if (given.isFinal) return result(claim, outcome, "delivered", ["email.sent", "email.delivered"]);
      return result(claim, outcome, "sent", ["email.sent"]);
    case "deferred":
      // Nobody's mail bounces for a password of ours: it waits for the operator, who is alarmed, as long as that takes.
      if (given.waitsOutFaults && outcome.alarm !== undefined)
        return {
          ...waiting(claim, outcome, "relay_paused", relayRetryMs(given.random), "email.delivery_delayed"),
          isUncounted: claim.attempt > 1,
        };
      if (outcome.alarm === "auth" || outcome.alarm === "tls")
        return {
          ...waiting(
            claim,
            outcome,
            "transport_fault",
            transportFaultRetryMs(given.random),
            "email.delivery_delayed",
          ),
          isUncounted: claim.attempt > 1,
        };
      if (mayRetry && outcome.class === "greylist" && given.retryAfterMs === undefined) {
        const soonMs = greylistRetryMs(claim.attempt, statedWaitMs(outcome.reply?.text ?? ""), given.random);
        if (soonMs !== null) return waiting(claim, outcome, "greylisted", soonMs, "email.delivery_delayed");
      }
      if (mayRetry) return waiting(claim, outcome, "retry_schedule", waitMs, "email.delivery_delayed");
      return result(
        claim,
        { ...outcome, reason: `Given up after ${claim.attempt} attempts. ${outcome.reason}` },
        "failed",
        ["email.failed"],
      );
    case "rejected":
      if (outcome.needsSecondLook && mayRetry) {
        const reason = `${outcome.reason} ${SECOND_LOOK}`;
        // The row tells what the attempt before saw.
        if (claim.lastReason !== reason)
          return waiting(claim, { ...outcome, reason }, "retry_schedule", waitMs, "email.delivery_delayed");
      }
      // No server refused it: it is our own refusal, such as a message above the server's announced size.
      if (outcome.reply === null) return result(claim, outcome, "failed", ["email.failed"]);
      return suppressing(
        saysAddressIsDead(outcome, given.recipients ?? 1) ? "bounce" : null,
        claim,
        result(claim, outcome, "bounced", ["email.bounced"]),
      );
    case "unknown":
      if (given.policy === "retry" && mayRetry)
        return waiting(claim, outcome, "unknown_retry", waitMs, "email.unknown", { policy: given.policy });
      return result(claim, outcome, "unknown", ["email.unknown"], { policy: given.policy });
    default:
      return unreachable(outcome.kind);
  }
}

const SECOND_LOOK = "DNS is asked once more before this mail is given up.";

/** Our own refusal: nothing was sent, and nothing will be. */
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
  bounce: "The address is on the suppression list since a mail to it bounced; nothing was sent.",
  complaint: "The address is on the suppression list since its owner complained; nothing was sent.",
  manual: "The address was put on the suppression list; nothing was sent.",
};

/** A recipient who must not be written to, by the team's list: set aside without an attempt. */
export function settleSuppressed(claim: Claim, origin: SuppressionOrigin): DeliveryResult {
  return setAside(claim, SUPPRESSED_REASON[origin], { suppressedBy: SUPPRESSED_BY[origin] });
}

/** The same for a scripted recipient, who stands on no list. */
export function settleScriptedSuppressed(claim: Claim, reason: string): DeliveryResult {
  return setAside(claim, reason, {});
}

function setAside(claim: Claim, reason: string, more: EventData): DeliveryResult {
  return result(
    claim,
    { recipient: claim.address, kind: "rejected", reply: null, host: null, reason },
    "suppressed",
    ["email.suppressed"],
    more,
  );
}

/** The result with which an address enters the list. What happens to scripted recipients teaches nobody anything. */
function suppressing(
  origin: SuppressionOrigin | null,
  claim: Claim,
  settled: DeliveryResult,
): DeliveryResult {
  if (origin === null || claim.domain === BUILT_IN_DOMAIN) return settled;
  return { ...settled, suppression: { id: newId(), address: foldAddress(claim.address), origin } };
}

function result(
  claim: Claim,
  outcome: Outcome,
  status: DeliveryResult["status"],
  types: EventType[],
  more: EventData = {},
): DeliveryResult {
  const { reply, host, reason, dialogue } = outcome;
  const about = outcome.class ?? classOfAlarm(outcome);
  const refusal = about === undefined ? {} : { class: about, advice: adviceOn(about) };
  const data: EventData = { attempt: claim.attempt, host, reply, reason, ...refusal, dialogue, ...more };
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
    // The dialogue belongs to the attempt, so only the first of its events carries it.
    events: types.map((type, index) => ({
      id: newId(),
      type,
      data: index === 0 ? data : { attempt: claim.attempt },
    })),
  };
}

/** Where no reply came with the alarm, as while the login is not tried again. */
function classOfAlarm({ alarm }: Outcome): ReplyClass | undefined {
  return alarm === "auth" ? "login" : alarm === "tls" ? "tls" : undefined;
}

function waiting(
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
  throw new TypeError(`no such outcome: ${String(kind)}`);
}
