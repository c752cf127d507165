import { setTimeout as wait } from "node:timers/promises";
import type { Claim } from "#db/queue";
import type { DeliveryResult } from "#db/results";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { WorkerDeps } from "#server/deps";
import type { SigningKey } from "#server/mail/dkim/sign";
import { scriptedFate, scriptedOutcome } from "#server/mail/transport/scripted";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { buildMessage } from "./build-message";
import type { StoredMessage } from "./messages";
import type { Place } from "./paces";
import type { AtPace } from "./pacing";
import { settleFailure, settleOutcome, settleScriptedSuppressed, settleSuppressed } from "./settle";
import type { SignedMail } from "./signing-keys";
import type { Turns } from "./turns";
import type { Way } from "./ways";

/** How long one attempt may take in all, tarpits included. */
const attemptMs = 15 * 60_000;

/** What the engine offers while a mail is under way. */
export type Handling = {
  keysFor(mail: SignedMail): Promise<SigningKey[]>;
  /** Makes an attempt when its destination is given one more, or gives the claims back until then. */
  atPace: AtPace;
  /** Gives claims back whose relays are all paused. */
  waitForRelay(claims: Claim[], waitMs: number): Promise<void>;
  /** Prepares and runs a dialogue when one of the few places for it is free. */
  inTurn: Turns;
  /** Commits that the dialogue begins; the claims that are still ours come back. */
  handOver(claims: Claim[], stored: StoredMessage): Promise<Claim[]>;
  /** Whether a dialogue may begin for these: they are still ours, and we are not about to stop. */
  mayBegin(claims: Claim[]): boolean;
  stillMine(claim: Claim): boolean;
  signal: AbortSignal;
};

/**
 * One attempt at one mail by its way, for those of its recipients that were claimed together: preflight, compose, hand
 * over, judge. Without a way the real ones among them are left over.
 * Whatever happens is a result; what could not even be begun because the database is away is thrown, and the leases
 * run out.
 */
export async function attemptEmail(
  deps: WorkerDeps,
  stored: StoredMessage,
  claims: Claim[],
  way: Way | null,
  handling: Handling,
): Promise<DeliveryResult[]> {
  if (stored.domainId === null) return claims.map((claim) => settleFailure(claim, unlinkedReason(stored)));
  const setAside: DeliveryResult[] = [];
  const scripted: Claim[] = [];
  const real: Claim[] = [];
  for (const claim of claims) {
    const origin = stored.suppressed?.[claim.id];
    if (origin) setAside.push(settleSuppressed(claim, origin));
    else (claim.domain === BUILT_IN_DOMAIN ? scripted : real).push(claim);
  }
  const results = await Promise.all([
    setAside,
    ...scripted.map((claim) => attemptScripted(stored, claim, handling.signal)),
    ...transactionsOf(deps, stored, real).map((group) =>
      way ? attemptAtPace(deps, way, stored, group, handling) : [],
    ),
  ]);
  return results.flat();
}

/**
 * Recipients of one mail share a transaction, unless something of their own is in it: a link in the message that only they
 * have, or a return path.
 */
function transactionsOf(deps: WorkerDeps, stored: StoredMessage, claims: Claim[]): Claim[][] {
  const { listUnsubscribe, tracksOpens, tracksClicks } = stored;
  if (listUnsubscribe || tracksOpens || tracksClicks || deps.names.returnPathDomain !== null)
    return claims.map((claim) => [claim]);
  return claims.length > 0 ? [claims] : [];
}

/** Deleting a domain or ending a link is the last word, also on what was accepted before it. */
const unlinkedReason = ({ senderAddress }: StoredMessage): string =>
  `${senderAddress.replace(/^.*@/, "")} was deleted, or is no longer linked to the key that brought this mail. It is not sent.`;

async function attemptScripted(
  stored: StoredMessage,
  claim: Claim,
  signal: AbortSignal,
): Promise<DeliveryResult[]> {
  const fate = scriptedFate(claim.address);
  const { outcome, afterMs, retryAfterMs, followedAfterMs } = scriptedOutcome(claim.address, claim.attempt);
  // Waited for before anything is written: a worker that dies meanwhile leaves a claim that is simply repeated.
  await wait(afterMs + (followedAfterMs ?? 0), undefined, { signal }).catch(() => {});
  if (signal.aborted) return [];
  if (fate?.suppressed) return [settleScriptedSuppressed(claim, outcome.reason)];
  const complains = followedAfterMs !== undefined;
  return [
    settleOutcome(claim, outcome, {
      policy: stored.policy,
      random: 0,
      isFinal: true,
      retryAfterMs,
      complains,
    }),
  ];
}

function attemptAtPace(
  deps: WorkerDeps,
  way: Way,
  stored: StoredMessage,
  claims: Claim[],
  handling: Handling,
): Promise<DeliveryResult[]> {
  const destination = way.isByDestination ? (claims[0]?.domain ?? "") : way.paceKey;
  return handling.atPace(destination, claims, (place) =>
    attemptReal(deps, way, stored, claims, handling, place),
  );
}

function attemptReal(
  deps: WorkerDeps,
  way: Way,
  stored: StoredMessage,
  claims: Claim[],
  handling: Handling,
  place: Place,
): Promise<DeliveryResult[]> {
  return handling.inTurn(
    !stored.hasBody,
    () => prepare(deps, way, stored, claims, handling),
    async (ready) => {
      if (!("message" in ready)) return ready.results;
      const { message, held } = ready;
      // Between the hand-over and the place for the dialogue time may have passed.
      if (!handling.mayBegin(held)) return [];
      place.talk();
      const outcomes = await way.deliver(
        message,
        held.map(({ address }) => address),
        {
          deadlineMs: attemptMs,
          stillMine: () => held.every((claim) => handling.stillMine(claim)),
          signal: handling.signal,
        },
      );
      place.leave(outcomes);
      const alarm = outcomes.find((outcome) => outcome.alarm)?.alarm;
      if (alarm && !way.waitsOutFaults)
        deps.log.error("transport.alarm", { alarm, host: outcomes[0]?.host, emailId: stored.id });
      return held.map((claim, index) => {
        const outcome = outcomes[index];
        if (!outcome) throw new TypeError("the way out gave no outcome for a recipient");
        return settleOutcome(claim, outcome, {
          policy: stored.policy,
          random: Math.random(),
          recipients: held.length,
          isFinal: way.isFinal,
          waitsOutFaults: way.waitsOutFaults,
        });
      });
    },
    way.isByDestination || way.paceKey !== null,
  );
}

/** A message for which the hand-over is committed, with the claims that are still ours; or what came of it already. */
type Ready = { message: OutgoingMessage; held: Claim[] } | { results: DeliveryResult[] };

async function prepare(
  deps: WorkerDeps,
  way: Way,
  stored: StoredMessage,
  claims: Claim[],
  handling: Handling,
): Promise<Ready> {
  if (handling.signal.aborted) return { results: [] };
  const waitMs = way.waitMs();
  if (waitMs !== null) {
    await handling.waitForRelay(claims, waitMs);
    return { results: [] };
  }
  // Where the day is used up most mail is given back here, and nothing has to be built for it.
  const early = stored.isHeldOver ? await handling.handOver(claims, stored) : null;
  if (early?.length === 0) return { results: [] };
  const built = await buildMessage(deps, stored, early ?? claims, handling.keysFor);
  if (!("message" in built)) return built;
  const held = early ?? (await handling.handOver(claims, stored));
  return held.length === 0 ? { results: [] } : { message: built.message, held };
}
