import { foldAddress } from "#db/fold-address";
import { changeByReturn, type ReturnChange, type Standing } from "#db/returns";
import type { DeliveryStatus } from "#db/schema/deliveries";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { EventData, EventType } from "#db/schema/events";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { Deps } from "#server/deps";
import { newId } from "#server/ids";

/** What came back about one delivery. */
export type Return = {
  deliveryId: string;
  /** The same whenever the same report comes. */
  report: string;
  effect: Effect;
  reply: EventData["reply"];
  host: string | null;
  reason: string;
  class?: string;
  advice?: string;
  /** With which the address is suppressed by it. Only what is proven to be about this very delivery may have one. */
  suppresses: SuppressionOrigin | null;
};

/**
 * recorded: it changed something. repeated: this report was recorded before. outranked: what stands weighs more, or as much.
 * impossible: the mail is in no state in which anybody could know of it. unknown: there is no such delivery, or no longer.
 * later: an attempt is under way, whose result has to come first.
 */
export type Recorded = "recorded" | "repeated" | "outranked" | "impossible" | "unknown" | "later";

const EFFECTS = ["delayed", "delivered", "bounced", "complained"] as const;
type Effect = (typeof EFFECTS)[number];

const TYPES: Record<Effect, EventType> = {
  delayed: "email.delivery_delayed",
  delivered: "email.delivered",
  bounced: "email.bounced",
  complained: "email.complained",
};

/**
 * What weighs more stays, in whatever order results and reports come: a delivery that came back did not arrive, though its
 * server said so; and who complains of a mail got it. Everything else is what an attempt came to, and yields to all of these.
 */
const RANKS: Partial<Record<DeliveryStatus, number>> = { delivered: 1, bounced: 2, complained: 3 };
const RANK_OF: Record<Effect, number> = { delayed: 0, delivered: 1, bounced: 2, complained: 3 };

/** Of a mail that was not sent nobody outside can tell anything. */
const UNSENT: ReadonlySet<DeliveryStatus> = new Set(["scheduled", "canceled", "suppressed"]);

/**
 * Records what came back about a delivery: its status, its event with the webhooks, and the suppression, in one transaction.
 * The same report twice is one event, and the order in which reports and results come makes no difference to what stands in
 * the end. Touches nothing but this delivery, its mail and its team's list.
 */
export async function recordReturn(
  deps: Pick<Deps, "hot" | "log" | "wake">,
  given: Return,
): Promise<Recorded> {
  let verdict = "unknown" as Recorded;
  const standing = await changeByReturn(deps.hot, given, (found) => {
    verdict = judge(found, given.effect);
    return verdict === "recorded" || verdict === "outranked" ? changeOf(found, given, verdict) : null;
  });
  if (standing && verdict === "recorded") {
    const { teamId, emailId } = standing;
    deps.log.info("return.recorded", { teamId, emailId, deliveryId: given.deliveryId, effect: given.effect });
    deps.wake();
  }
  return verdict;
}

function judge({ status, stage, attempts, isRepeated }: Standing, effect: Effect): Recorded {
  if (isRepeated) return "repeated";
  if (UNSENT.has(status)) return "impossible";
  const isUnderWay = status === "sending" && stage === "handed_over";
  // Before its first attempt, or the first after it was put back by hand, nothing of it is out but an earlier copy.
  const isBegun = isUnderWay || (status === "sending" ? attempts > 1 : status !== "queued" || attempts > 0);
  if (!isBegun && effect !== "complained") return "impossible";
  // The end of an attempt may yet be a refusal, which would weigh more.
  if (isUnderWay && RANK_OF[effect] < RANK_OF.bounced) return "later";
  return RANK_OF[effect] > (RANKS[status] ?? 0) || (effect === "delayed" && RANKS[status] === undefined)
    ? "recorded"
    : "outranked";
}

function changeOf(standing: Standing, given: Return, verdict: "recorded" | "outranked"): ReturnChange | null {
  const { effect, report, reply, host, reason, suppresses } = given;
  const suppression =
    suppresses === null || standing.domain === BUILT_IN_DOMAIN
      ? null
      : { id: newId(), address: foldAddress(standing.address), origin: suppresses };
  const common = { reply: reply ?? null, host, reason, suppression };
  if (verdict === "outranked") return suppression && { ...common, status: null, events: [] };
  const told = { class: given.class, advice: given.advice };
  const data: EventData = {
    report,
    reason,
    host,
    ...(reply && { reply }),
    ...(given.class !== undefined && told),
  };
  const events: ReturnChange["events"] = [{ id: newId(), type: TYPES[effect], data }];
  // Whoever sends it back had taken it, so the attempt's own end is known before it is recorded.
  if (standing.status === "sending" && standing.stage === "handed_over")
    events.unshift({
      id: newId(),
      type: "email.sent",
      data: { attempt: standing.attempts, reason: "It was taken: something came back about it." },
    });
  return { ...common, status: effect === "delayed" ? null : effect, events };
}
