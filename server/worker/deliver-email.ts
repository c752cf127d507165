import { setTimeout as wait } from "node:timers/promises";
import type { Claim } from "#db/queue";
import type { DeliveryResult } from "#db/results";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { WorkerDeps } from "#server/deps";
import { errorFacts } from "#server/log";
import { scriptedFate, scriptedOutcome } from "#server/mail/transport/scripted";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { composeStored, type StoredMessage, withBody } from "./messages";
import { settleFailure, settleOutcome, settleSuppressed } from "./settle";

/** How long one attempt may take in all, tarpits included. */
const attemptMs = 15 * 60_000;

/** What the engine offers while a mail is under way. */
export type Handling = {
  /** Runs a dialogue when one of the few places for it is free. */
  inTurn<T>(dialogue: () => Promise<T>): Promise<T>;
  /** Commits that the dialogue begins; the claims that are still ours come back. */
  handOver(claims: Claim[]): Promise<Claim[]>;
  stillMine(claim: Claim): boolean;
  signal: AbortSignal;
};

/**
 * One attempt at one mail, for those of its recipients that were claimed together: preflight, compose, hand over, judge.
 * Whatever happens is a result; what could not even be begun because the database is away is thrown, and the leases
 * run out.
 */
export async function attemptEmail(
  deps: WorkerDeps,
  stored: StoredMessage,
  claims: Claim[],
  handling: Handling,
): Promise<DeliveryResult[]> {
  const scripted = claims.filter(({ domain }) => domain === BUILT_IN_DOMAIN);
  const real = claims.filter(({ domain }) => domain !== BUILT_IN_DOMAIN);
  const results = await Promise.all([
    ...scripted.map((claim) => attemptScripted(stored, claim, handling.signal)),
    real.length > 0 ? handling.inTurn(() => attemptReal(deps, stored, real, handling)) : [],
  ]);
  return results.flat();
}

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
  if (fate?.suppressed) return [settleSuppressed(claim, outcome.reason)];
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

async function attemptReal(
  deps: WorkerDeps,
  stored: StoredMessage,
  claims: Claim[],
  handling: Handling,
): Promise<DeliveryResult[]> {
  const { transport } = deps;
  if (!transport || handling.signal.aborted) return [];
  const whole = await withBody(deps.hot, stored);
  let message: OutgoingMessage;
  try {
    message = composeStored(whole);
  } catch (error) {
    // Whatever is wrong with it would be wrong again: it must not come back and stand before the others.
    deps.log.error("email.not_composed", { emailId: stored.id, ...errorFacts(error) });
    return claims.map((claim) =>
      settleFailure(claim, "The message could not be composed. Nothing was sent."),
    );
  }
  const held = await handling.handOver(claims);
  if (held.length === 0) return [];
  const outcomes = await transport.deliver(
    message,
    held.map(({ address }) => address),
    {
      deadlineMs: attemptMs,
      stillMine: () => held.every((claim) => handling.stillMine(claim)),
      signal: handling.signal,
    },
  );
  const alarm = outcomes.find((outcome) => outcome.alarm)?.alarm;
  if (alarm) deps.log.error("transport.alarm", { alarm, host: outcomes[0]?.host, emailId: stored.id });
  const isFinal = transport.name !== "relay";
  return held.map((claim, index) => {
    const outcome = outcomes[index];
    if (!outcome) throw new TypeError(`transport ${transport.name} gave no outcome for a recipient`);
    return settleOutcome(claim, outcome, { policy: stored.policy, random: Math.random(), isFinal });
  });
}
