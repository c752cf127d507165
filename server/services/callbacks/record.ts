import { createHash } from "node:crypto";
import type { HotSql } from "#db/client";
import type { Deps } from "#server/deps";
import type { Action } from "#server/mail/bounce/report";
import type { AddressVerdict, ProviderEvent } from "#server/mail/callbacks/callback";
import { quote } from "#server/mail/outcome";
import { type Addressed, filterByAddress, findByMessageId } from "../returns/find";
import { type AddressFault, type Recorded, recordOutcome, recordServerReport } from "../returns/record";
import { unsubscribe } from "../suppressions/unsubscribe";
import { type CallbackRelay, PROVIDER_NAMES } from "./secrets";

/** How far a provider's event may be ahead of our own record of the hand-over. */
const leadMsMax = 60_000;

type RecordDeps = Pick<Deps, "db" | "hot" | "log" | "wake" | "clock">;
type Target = { delivery: Addressed; by: "provider's id" | "Message-ID"; isExact: boolean };

const ACTIONS = {
  delivered: "delivered",
  delayed: "delayed",
  bounced: "failed",
} as const satisfies Partial<Record<ProviderEvent["kind"], Action>>;

type Listed = Extract<AddressVerdict, `listed${string}`>;

/** How an address came to the suppression list of a provider, after "is on its suppression list". */
const CAUSES: Record<Listed, string> = {
  listed: "",
  listed_bounce: " because an earlier email to it bounced",
  listed_complaint: " because its owner marked an email as spam",
  listed_unsubscribe: " because the recipient unsubscribed there",
};

const isListed = (verdict: AddressVerdict): verdict is Listed => verdict in CAUSES;

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
  const { kind, reply, host, recipients, verdict } = event;
  const name = relay.provider === null ? "The provider" : PROVIDER_NAMES[relay.provider];
  const said = quote(reply) === "" ? "" : ` (${quote(reply)})`;
  const common = { delivery, report, reply, host };
  if (kind === "unsubscribed") return maySuppress ? unsubscribeThere(deps, delivery, event) : "unknown";
  if (kind === "failed")
    return recordOutcome(deps, {
      ...common,
      effect: kind,
      reason: `${name} accepted the email, and did not send it for a reason of the sending account${said}. The recipient's address is not the cause.`,
    });
  if (kind === "bounced" && verdict && isListed(verdict)) {
    // First, so that a repetition of the report repeats it after a crash.
    if (verdict === "listed_unsubscribe" && maySuppress) await unsubscribeThere(deps, delivery, event);
    const origin = verdict === "listed_complaint" ? "complaint" : "bounce";
    return recordOutcome(deps, {
      ...common,
      effect: kind,
      reason: `${name} did not send the email: the address is on its suppression list${CAUSES[verdict]}${said}.`,
      suppresses: maySuppress && verdict !== "listed_unsubscribe" ? origin : null,
    });
  }
  if (kind === "complained")
    return recordOutcome(deps, {
      delivery,
      report,
      effect: kind,
      reason: event.appliesToAllRecipients
        ? "The recipient marked the email as spam."
        : "The recipient, or another one at the same provider, marked the email as spam.",
      suppresses: maySuppress ? "complaint" : null,
    });
  const reported = { action: ACTIONS[kind], recipients, reply, host };
  const about = { delivery, report, reported, maySuppress, fault: faultOf(name, verdict) };
  return (await recordServerReport(deps, about)) ?? "unknown";
}

function faultOf(name: string, verdict: AddressVerdict | undefined): AddressFault | null {
  if (verdict === "blocked") return { isFinal: true, explanation: `${name} sends no more email to it.` };
  if (verdict !== "hard") return null;
  return { isFinal: false, explanation: `${name} reports it as a permanent failure of the address.` };
}

/**
 * An unsubscribe at the provider counts like one by our link: from the list of the email, if the provider
 * names this list, else from all. Nothing at the provider ends an unsubscribe here, which can have another
 * cause.
 */
async function unsubscribeThere(
  deps: RecordDeps,
  { teamId, emailId, address }: Addressed,
  { lists = [] }: ProviderEvent,
): Promise<Recorded> {
  const [email] = await deps.hot<{ list: string | null }[]>`
    select list_name as list from emails where team_id = ${teamId} and id = ${emailId}`;
  const list = email?.list ?? null;
  const from = list !== null && lists.includes(list) ? "list" : "all";
  return (await unsubscribe(deps, { teamId, emailId, address, list }, from)) ? "recorded" : "repeated";
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
