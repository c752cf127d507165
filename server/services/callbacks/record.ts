import { createHash } from "node:crypto";
import type { HotSql } from "#db/client";
import type { Deps } from "#server/deps";
import type { Action } from "#server/mail/bounce/report";
import type { ProviderEvent } from "#server/mail/callbacks/callback";
import { type Addressed, filterByAddress, findByMessageId } from "../returns/find";
import { type Recorded, recordOutcome, recordServerReport } from "../returns/record";
import type { CallbackRelay } from "./secrets";

/** How far a provider's event may be ahead of our own record of the hand-over. */
const leadMsMax = 60_000;

type RecordDeps = Pick<Deps, "hot" | "log" | "wake" | "clock">;
type Target = { delivery: Addressed; by: "provider's id" | "Message-ID"; isExact: boolean };

const ACTIONS: Record<Exclude<ProviderEvent["kind"], "complained">, Action> = {
  delivered: "delivered",
  delayed: "delayed",
  bounced: "failed",
};

/**
 * Records what a relay's provider reports about an email, if this relay sent it. Uses the same path as every
 * other report on a delivery, so the order in which reports arrive does not matter. For an event about an
 * email that is not known yet and that has just occurred, the provider must repeat the request (`later`).
 */
export async function recordProviderEvent(
  deps: RecordDeps,
  relay: CallbackRelay,
  event: ProviderEvent,
): Promise<Recorded> {
  const target = await findTarget(deps, relay, event);
  const isFound = target !== null && target !== "several";
  // Until the attempt is recorded for all its recipients, the provider's id may not identify the delivery
  // yet.
  const isCertain = isFound && target.by === "provider's id" && target.isExact;
  if (!isCertain && isRecent(deps, event)) return "later";
  if (!isFound) return "unknown";
  const { delivery } = target;
  const report = `${relay.id} ${createHash("sha256").update(event.id).digest("base64url")}`;
  // A report that may be about another recipient never suppresses.
  const maySuppress = isCertain && event.appliesToAllRecipients;
  const { kind, reply, host, recipients } = event;
  if (kind === "complained")
    return recordOutcome(deps, {
      delivery,
      report,
      effect: kind,
      reply: null,
      host: null,
      reason: event.appliesToAllRecipients
        ? "The recipient marked the email as spam."
        : "The recipient, or another one at the same provider, marked the email as spam.",
      suppresses: maySuppress ? "complaint" : null,
    });
  const reported = { action: ACTIONS[kind], recipients, reply, host };
  const about = { delivery, report, reported, maySuppress };
  return (await recordServerReport(deps, about)) ?? "unknown";
}

/**
 * The delivery that an event is about: found by the id that the provider returned when it accepted the email;
 * otherwise by Message-ID and recipient, which never suppresses. Null if there is none; `several` if it is
 * ambiguous.
 */
async function findTarget(
  { hot }: RecordDeps,
  relay: CallbackRelay,
  { providerId, messageId, recipients }: ProviderEvent,
): Promise<Target | "several" | null> {
  const known = providerId === null ? [] : await findByProviderId(hot, relay, providerId);
  if (known.length > 0) {
    const named = filterByAddress(known, recipients);
    const [only] = named.length === 0 && known.length === 1 ? known : named;
    if (!only || named.length > 1) return "several";
    // A report about an address to which this one forwards is not a report about this address.
    const isExact = named.length === 1 || recipients.length === 0;
    return { delivery: only, by: "provider's id", isExact };
  }
  const [first, ...others] = filterByAddress(await findByMessageId(hot, messageId, relay), recipients);
  if (!first) return null;
  return others.length > 0 ? "several" : { delivery: first, by: "Message-ID", isExact: true };
}

const addressedMax = 100;

/**
 * The deliveries that a relay's provider identifies by an id: several if it accepted one message for all of
 * them. If the relay belongs to a team, only deliveries of that team.
 */
async function findByProviderId(hot: HotSql, relay: CallbackRelay, providerId: string): Promise<Addressed[]> {
  return hot<Addressed[]>`
    select team_id as "teamId", email_id as "emailId", id, address from deliveries
    where relay_id = ${relay.id} and provider_id = ${providerId}
      and (${relay.teamId}::uuid is null or team_id = ${relay.teamId}::uuid)
    order by position limit ${addressedMax}`;
}

const isRecent = ({ clock }: RecordDeps, { at }: ProviderEvent): boolean =>
  at !== null && Math.abs(clock().getTime() - at.getTime()) < leadMsMax;
