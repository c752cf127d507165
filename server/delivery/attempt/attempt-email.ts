import { setTimeout as wait } from "node:timers/promises";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { WorkerDeps } from "#server/deps";
import type { SigningKey } from "#server/mail/dkim/sign";
import { isContradictory, type Outcome } from "#server/mail/outcome";
import { findScriptedFate, scriptedOutcome } from "#server/mail/transport/scripted";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { errorFacts } from "#server/platform/log";
import type { Claim } from "../queue/claims";
import type { DeliveryResult } from "../queue/record-results";
import type { Route } from "../routing/routes";
import type { DialogueSlot } from "../throttle/destination-throttles";
import type { RunDialogue } from "../throttle/dialogue-runner";
import type { RunThrottled } from "../throttle/throttled-attempt";
import { buildMessage } from "./build-message";
import { settleFailure, settleOutcome, settleScriptedSuppressed, settleSuppressed } from "./outcome";
import type { SigningRequest } from "./signing-keys";
import type { StoredMessage } from "./stored-messages";

/** Maximum duration of one attempt, tarpits included. */
const attemptMs = 15 * 60_000;

/** What the engine provides to an attempt. */
export type AttemptContext = {
  /** Generates the text of the email if that takes long. */
  withText(stored: StoredMessage): Promise<StoredMessage>;
  findKeys(request: SigningRequest): Promise<SigningKey[]>;
  /** Makes an attempt when the destination's throttle allows it, or requeues the claims. */
  runThrottled: RunThrottled;
  /** Requeues claims whose relays are all paused. */
  waitForRelay(claims: Claim[], waitMs: number): Promise<void>;
  /** Prepares and runs a dialogue within the concurrency limit. */
  runDialogue: RunDialogue;
  /** Commits the hand-over. Returns the claims whose lease is still ours and that may be sent. */
  handOver(claims: Claim[], stored: StoredMessage): Promise<Claim[]>;
  /** Whether a dialogue may start: all leases are ours, and the engine is not draining. */
  canStart(claims: Claim[]): boolean;
  ownsLease(claim: Claim): boolean;
  signal: AbortSignal;
};

/**
 * Makes one attempt for recipients of an email that were claimed together: preflight, compose, hand over, dialogue,
 * outcome. Without a route only scripted and suppressed recipients get results. Delivery failures are results. Throws if
 * the database is unavailable before the dialogue; the leases then expire.
 */
export async function attemptEmail(
  deps: WorkerDeps,
  stored: StoredMessage,
  claims: Claim[],
  route: Route | null,
  context: AttemptContext,
): Promise<DeliveryResult[]> {
  if (stored.domainId === null) return claims.map((claim) => settleFailure(claim, unlinkedReason(stored)));
  const suppressed: DeliveryResult[] = [];
  const scripted: Claim[] = [];
  const real: Claim[] = [];
  for (const claim of claims) {
    const origin = stored.suppressed?.[claim.id];
    if (origin) suppressed.push(settleSuppressed(claim, origin));
    else (claim.domain === BUILT_IN_DOMAIN ? scripted : real).push(claim);
  }
  const results = await Promise.all([
    suppressed,
    ...scripted.map((claim) => attemptScripted(stored, claim, context.signal)),
    route && real.length > 0 ? attemptRecipients(deps, stored, real, route, context) : [],
  ]);
  return results.flat();
}

/** The text is generated first, before the email occupies a slot that another one could use. */
async function attemptRecipients(
  deps: WorkerDeps,
  stored: StoredMessage,
  claims: Claim[],
  route: Route,
  context: AttemptContext,
): Promise<DeliveryResult[]> {
  const ready = await context.withText(stored);
  if (!context.canStart(claims)) return [];
  const results = groupByTransaction(deps, ready, claims).map((group) =>
    attemptThrottled(deps, route, ready, group, context),
  );
  return (await Promise.all(results)).flat();
}

/**
 * Groups recipients by SMTP transaction. They share one, unless each copy is individual: an unsubscribe link, tracking, or
 * a return path.
 */
function groupByTransaction(deps: WorkerDeps, stored: StoredMessage, claims: Claim[]): Claim[][] {
  const { listUnsubscribe, tracksOpens, tracksClicks } = stored;
  if (listUnsubscribe || tracksOpens || tracksClicks || deps.names.returnPathDomain !== null)
    return claims.map((claim) => [claim]);
  return claims.length > 0 ? [claims] : [];
}

/** A deleted domain, a removed key link or a domain lost to another team also blocks email accepted before. */
const unlinkedReason = ({ senderAddress }: StoredMessage): string =>
  `${senderAddress.replace(/^.*@/, "")} was deleted, is now verified for another team, or is no longer linked to the API key that sent this email. The email is not sent.`;

async function attemptScripted(
  stored: StoredMessage,
  claim: Claim,
  signal: AbortSignal,
): Promise<DeliveryResult[]> {
  const script = findScriptedFate(claim.address);
  const { outcome, afterMs, retryAfterMs, followedAfterMs } = scriptedOutcome(claim.address, claim.attempt);
  // The wait comes before any write: if the worker dies meanwhile, the claim is repeated.
  await wait(afterMs + (followedAfterMs ?? 0), undefined, { signal }).catch(() => {});
  if (signal.aborted) return [];
  if (script?.suppressed) return [settleScriptedSuppressed(claim, outcome.reason)];
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

function attemptThrottled(
  deps: WorkerDeps,
  route: Route,
  stored: StoredMessage,
  claims: Claim[],
  context: AttemptContext,
): Promise<DeliveryResult[]> {
  const destination = route.isByDestination ? (claims[0]?.domain ?? "") : route.throttleKey;
  return context.runThrottled(destination, claims, (slot) =>
    attemptGroup(deps, route, stored, claims, context, slot),
  );
}

function attemptGroup(
  deps: WorkerDeps,
  route: Route,
  stored: StoredMessage,
  claims: Claim[],
  context: AttemptContext,
  slot: DialogueSlot,
): Promise<DeliveryResult[]> {
  return context.runDialogue(
    !stored.hasBody,
    () => prepare(deps, route, stored, claims, context),
    async (ready) => {
      if (!("message" in ready)) return ready.results;
      const { message, held } = ready;
      // Time may have passed between the hand-over and the free slot.
      if (!context.canStart(held)) return [];
      slot.startDialogue();
      const outcomes = await route.deliver(
        message,
        held.map(({ address }) => address),
        {
          deadlineMs: attemptMs,
          isLeaseValid: () => held.every((claim) => context.ownsLease(claim)),
          signal: context.signal,
        },
      );
      slot.release(outcomes);
      logFaults(deps, stored, outcomes);
      const alarm = outcomes.find((outcome) => outcome.alarm)?.alarm;
      if (alarm && !route.retriesFaultsIndefinitely)
        deps.log.error("transport.alarm", { alarm, host: outcomes[0]?.host, emailId: stored.id });
      return held.map((claim, index) => {
        const outcome = outcomes[index];
        if (!outcome) throw new TypeError("the route returned no outcome for a recipient");
        return settleOutcome(claim, outcome, {
          policy: stored.policy,
          random: Math.random(),
          recipients: held.length,
          isFinal: route.isFinal,
          retriesFaultsIndefinitely: route.retriesFaultsIndefinitely,
        });
      });
    },
    route.isByDestination || route.throttleKey !== null,
  );
}

/** Logs faults on our side, and replies whose code and enhanced code contradict each other. */
function logFaults({ log }: WorkerDeps, { id: emailId }: StoredMessage, outcomes: readonly Outcome[]): void {
  const failed = outcomes.find(({ cause }) => cause !== undefined);
  if (failed) log.error("transport.failed", { emailId, host: failed.host, ...errorFacts(failed.cause) });
  for (const { host, reply } of outcomes)
    if (reply && isContradictory(reply))
      log.info("reply.contradictory", { emailId, host, code: reply.code, enhanced: reply.enhanced });
}

/** A message with a committed hand-over and the claims to send, or early results. */
type Ready = { message: OutgoingMessage; held: Claim[] } | { results: DeliveryResult[] };

async function prepare(
  deps: WorkerDeps,
  route: Route,
  stored: StoredMessage,
  claims: Claim[],
  context: AttemptContext,
): Promise<Ready> {
  if (context.signal.aborted) return { results: [] };
  const waitMs = route.waitMs();
  if (waitMs !== null) {
    await context.waitForRelay(claims, waitMs);
    return { results: [] };
  }
  // If the daily cap is reached, most deliveries are requeued here, before the message is built.
  const early = stored.isCapReached ? await context.handOver(claims, stored) : null;
  if (early?.length === 0) return { results: [] };
  const built = await buildMessage(deps, stored, early ?? claims, context.findKeys);
  if (!("message" in built)) return built;
  const held = early ?? (await context.handOver(claims, stored));
  return held.length === 0 ? { results: [] } : { message: built.message, held };
}
