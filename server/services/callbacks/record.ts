import { createHash } from "node:crypto";
import { type Addressed, findByMessageIdOf, findByProviderId, type HeardRelay } from "#db/callbacks";
import { foldAddress } from "#db/fold-address";
import type { Deps } from "#server/deps";
import { isId } from "#server/ids";
import type { Action } from "#server/mail/bounce/report";
import type { Told } from "#server/mail/callbacks/callback";
import { type Recorded, recordReturn } from "../returns/record";
import { recordReported } from "../returns/record-reported";

/** Older mail is not found by its Message-ID, which anybody may know by then. */
const daysMax = 10;
/** For so long what is told of a mail may be ahead of our own record of how it was handed over. */
const aheadMsMax = 60_000;

type RecordDeps = Pick<Deps, "hot" | "log" | "wake" | "clock">;
type Target = { deliveryId: string; by: "provider's id" | "Message-ID"; isAboutIt: boolean };

const ACTIONS: Record<Exclude<Told["kind"], "complained">, Action> = {
  delivered: "delivered",
  delayed: "delayed",
  bounced: "failed",
};

/**
 * Records what a relay's provider tells of a mail, where it is one that this relay was given. It ends where every report on a
 * delivery ends, so that nothing hinges on the order in which they come; what is not known yet, and is only just told, is
 * asked for again (`later`).
 */
export async function recordTold(deps: RecordDeps, relay: HeardRelay, told: Told): Promise<Recorded> {
  const target = await findTarget(deps, relay, told);
  const isFound = target !== null && target !== "several";
  // Once the attempt is on record, for each of its recipients, it may be found by more than this.
  const isClear = isFound && target.by === "provider's id" && target.isAboutIt;
  if (!isClear && isNews(deps, told)) return "later";
  if (!isFound) return "unknown";
  const { deliveryId } = target;
  const report = `${relay.id} ${createHash("sha256").update(told.id).digest("base64url")}`;
  // What may be about somebody else condemns nobody.
  const maySuppress = isClear && told.isSure;
  const { kind, reply, host, recipients } = told;
  if (kind === "complained")
    return recordReturn(deps, {
      deliveryId,
      report,
      effect: kind,
      reply: null,
      host: null,
      reason: told.isSure
        ? "The recipient complained about the mail."
        : "The recipient, or another one at the same provider, complained about the mail.",
      suppresses: maySuppress ? "complaint" : null,
    });
  const reported = { action: ACTIONS[kind], recipients, reply, host };
  const about = { deliveryId, report, reported, maySuppress };
  return (await recordReported(deps, about)) ?? "unknown";
}

/**
 * The one delivery that it is about: by the id that the provider's own reply named, else, and then it suppresses nobody, by
 * Message-ID and recipient. Null where there is none; several where it could be any of them.
 */
async function findTarget(
  { hot }: RecordDeps,
  relay: HeardRelay,
  { providerId, messageId, recipients }: Told,
): Promise<Target | "several" | null> {
  const known = providerId === null ? [] : await findByProviderId(hot, { relay, providerId });
  if (known.length > 0) {
    const named = namedIn(known, recipients);
    const [only] = named.length === 0 && known.length === 1 ? known : named;
    if (!only || named.length > 1) return "several";
    // What is said of another address, to which this one leads, is no word about this one.
    const isAboutIt = named.length === 1 || recipients.length === 0;
    return { deliveryId: only.id, by: "provider's id", isAboutIt };
  }
  const emailId = messageId?.split("@")[0]?.toLowerCase();
  if (messageId === null || !emailId || !isId(emailId)) return null;
  const [first, ...others] = namedIn(
    await findByMessageIdOf(hot, { relay, messageId, emailId, daysMax }),
    recipients,
  );
  if (!first) return null;
  return others.length > 0 ? "several" : { deliveryId: first.id, by: "Message-ID", isAboutIt: true };
}

function namedIn(deliveries: readonly Addressed[], recipients: readonly string[]): Addressed[] {
  const named = new Set(recipients.map(foldAddress));
  return deliveries.filter(({ address }) => named.has(foldAddress(address)));
}

const isNews = ({ clock }: RecordDeps, { at }: Told): boolean =>
  at !== null && Math.abs(clock().getTime() - at.getTime()) < aheadMsMax;
