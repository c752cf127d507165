import { ERASED_DOMAIN } from "#db/schema/audit";
import type { DeliveryKey, DeliveryStatus } from "#db/schema/deliveries";
import type { EventData, EventType } from "#db/schema/events";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { Deps } from "#server/deps";
import { interpretReported } from "#server/mail/bounce/judge";
import type { Action, Reported } from "#server/mail/bounce/report";
import { newId } from "#server/platform/ids";
import type { ReplyClass } from "#server/shared/reply-classes";
import { getReplyRules } from "../destinations/reply-rules";
import { reportedEntry } from "../suppressions/suppress";
import { applyReport, type ReportChange, type ReportedDelivery } from "./apply";

/** A report about one delivery, from a bounce, a complaint, an automatic reply or a callback. */
export type ReportedOutcome = {
  delivery: DeliveryKey;
  /** Identifies the report: the same value whenever it is received again. */
  report: string;
  effect: Effect;
  /** Of a server; of a provider that sent nothing, what it says itself. Complaints have none. */
  reply?: EventData["reply"];
  host?: string | null;
  reason: string;
  class?: string;
  replyRule?: string | undefined;
  advice?: string;
  /**
   * The origin of the suppression that it causes. Only for a report that is proven to be about this delivery.
   */
  suppresses?: SuppressionOrigin | null;
};

/**
 * recorded: it changed something. repeated: this report was recorded before. outranked: the current status
 * has the same or a higher rank. impossible: the email was not sent, so there cannot be a report about it.
 * unknown: the delivery does not exist (any longer). later: an attempt is in progress and its result has to
 * be recorded first.
 */
export type Recorded = "recorded" | "repeated" | "outranked" | "impossible" | "unknown" | "later";

/** What is shown on the timeline and changes no status. */
const NOTES = ["auto_replied", "complaint_claimed"] as const;
type Note = (typeof NOTES)[number];
type Effect = Note | "delayed" | "failed" | "delivered" | "bounced" | "complained";
const isNote = (effect: Effect): effect is Note => NOTES.some((note) => note === effect);

const TYPES: Record<Effect, EventType> = {
  auto_replied: "email.auto_replied",
  complaint_claimed: "email.complaint_claimed",
  delayed: "email.delivery_delayed",
  failed: "email.failed",
  delivered: "email.delivered",
  bounced: "email.bounced",
  complained: "email.complained",
};

/**
 * The higher rank wins, in whatever order results and reports arrive: a delivery that bounced was not
 * delivered even if its server reported so, and a recipient who complains has received the email. All other
 * statuses are results of attempts and have the lowest rank.
 */
const RANKS: Partial<Record<DeliveryStatus, number>> = { delivered: 1, bounced: 2, complained: 3 };
const RANK_OF: Record<Exclude<Effect, Note>, number> = {
  delayed: 0,
  failed: 0.5,
  delivered: 1,
  bounced: 2,
  complained: 3,
};

/** Statuses of emails that were never sent, so no genuine report about them can exist. */
const UNSENT: ReadonlySet<DeliveryStatus> = new Set(["scheduled", "canceled", "suppressed"]);

/**
 * Records a report about a delivery: its status, its event with the webhooks, and the suppression, in one
 * transaction. The same report twice is one event, and the final state does not depend on the order of
 * reports and results. Changes only this delivery, its email and its team's suppression list.
 */
export async function recordOutcome(
  deps: Pick<Deps, "hot" | "log" | "wake">,
  given: ReportedOutcome,
): Promise<Recorded> {
  let verdict = "unknown" as Recorded;
  const delivery = await applyReport(deps.hot, given, (found) => {
    verdict = evaluate(found, given.effect);
    return verdict === "recorded" || verdict === "outranked" ? changeOf(found, given, verdict) : null;
  });
  if (delivery && verdict === "recorded") {
    const { teamId, emailId, id: deliveryId } = delivery;
    deps.log.info("return.recorded", { teamId, emailId, deliveryId, effect: given.effect });
    deps.wake();
  }
  return verdict;
}

function evaluate(
  { domain, status, stage, attempts, isRepeated }: ReportedDelivery,
  effect: Effect,
): Recorded {
  // Its recipient was erased: nothing more is stored about it.
  if (domain === ERASED_DOMAIN) return "unknown";
  if (isRepeated) return "repeated";
  if (UNSENT.has(status)) return "impossible";
  const isInProgress = status === "sending" && stage === "handed_over";
  // Before its first attempt, or the first one after a manual retry, only an earlier copy can have been sent.
  const isStarted =
    isInProgress || (status === "sending" ? attempts > 1 : status !== "queued" || attempts > 0);
  if (!isStarted && effect !== "complained") return "impossible";
  if (isNote(effect)) return "recorded";
  // The attempt may still end with a rejection, which has a higher rank.
  if (isInProgress && RANK_OF[effect] < RANK_OF.bounced) return "later";
  return RANK_OF[effect] > (RANKS[status] ?? 0) || (effect === "delayed" && RANKS[status] === undefined)
    ? "recorded"
    : "outranked";
}

function changeOf(
  delivery: ReportedDelivery,
  given: ReportedOutcome,
  verdict: "recorded" | "outranked",
): ReportChange | null {
  const { effect, report, reply = null, host = null, reason, suppresses = null, replyRule } = given;
  const suppression = suppresses && reportedEntry(suppresses, delivery);
  const common = { reply, host, reason, suppression };
  if (verdict === "outranked") return suppression && { ...common, status: null, events: [] };
  const classification = { class: given.class, advice: given.advice };
  const data: EventData = {
    report,
    reason,
    host,
    ...(reply && { reply }),
    ...(given.class !== undefined && classification),
    ...(replyRule !== undefined && { replyRule }),
  };
  const events: ReportChange["events"] = [{ id: newId(), type: TYPES[effect], data }];
  // A server that reports on the email had accepted it, so the result of the attempt is known before it is
  // recorded.
  if (!isNote(effect) && delivery.status === "sending" && delivery.stage === "handed_over")
    events.unshift({
      id: newId(),
      type: "email.sent",
      data: { attempt: delivery.attempts, reason: "Accepted: a report about this delivery was received." },
    });
  return { ...common, status: effect === "delayed" || isNote(effect) ? null : effect, events };
}

const EFFECT_OF: Partial<Record<Action, Effect>> = {
  failed: "bounced",
  delayed: "delayed",
  delivered: "delivered",
};

/**
 * What the provider of a relay says about the address of a failed delivery, besides the reply. isFinal: it
 * sends no more email to the address, whatever the reply says.
 */
export type AddressFault = { isFinal: boolean; explanation: string };

/** Classes of replies that do not contradict a provider which says that an address does not work. */
const ADDRESS_CLASSES: ReadonlySet<string> = new Set<ReplyClass>(["hard", "disabled", "other"]);

/**
 * Records what a server reports about a delivery, classified by the same table as SMTP replies.
 * `maySuppress`: the report is proven and is about this exact address; the address is then suppressed if the
 * code says that it does not exist, or if the provider says so and the reply gives no other cause. A rule of
 * the operator precedes the provider. Null if the report is neither a failure nor a success.
 */
export async function recordServerReport(
  deps: Pick<Deps, "hot" | "log" | "wake">,
  about: {
    delivery: DeliveryKey;
    report: string;
    reported: Reported;
    maySuppress: boolean;
    fault?: AddressFault | null;
  },
): Promise<Recorded | null> {
  const { delivery, report, reported, maySuppress, fault } = about;
  const effect = EFFECT_OF[reported.action];
  if (!effect) return null;
  const { reply, host } = reported;
  const common = { delivery, report, effect, reply, host };
  if (effect === "delivered")
    return recordOutcome(deps, { ...common, reason: "The server reported the email as delivered." });
  const { class: found, ...judged } = interpretReported(reported, await getReplyRules(deps.hot));
  const isOwnRule = judged.replyRule?.startsWith("operator:") ?? false;
  const isFaulty = fault != null && !isOwnRule && (fault.isFinal || ADDRESS_CLASSES.has(found));
  const isDead = judged.isDead || isFaulty;
  const suppresses = isDead && maySuppress ? "bounce" : null;
  const reason = isFaulty && !judged.isDead ? `${judged.reason} ${fault.explanation}` : judged.reason;
  const { replyRule, advice } = judged;
  return recordOutcome(deps, { ...common, replyRule, advice, reason, class: found, suppresses });
}
