import { setTimeout as wait } from "node:timers/promises";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { WorkerDeps } from "#server/deps";
import type { SigningKey } from "#server/mail/dkim/sign";
import { isContradictory, type Outcome } from "#server/mail/outcome";
import { applyOwnRules, type OwnRule } from "#server/mail/replies/own-rules";
import { scriptedOutcome } from "#server/mail/transport/scripted";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { errorFacts } from "#server/platform/log";
import type { Span } from "#server/platform/telemetry/otel";
import { returnPathDomainOf } from "#server/services/domains/return-path";
import type { Claim } from "../queue/claims";
import type { DeliveryResult } from "../queue/record-results";
import type { Requeue } from "../queue/requeue";
import type { Runner } from "../queue/runner";
import { recordOutcome } from "../routing/observe-dialogue";
import type { Route } from "../routing/routes";
import type { Permit, Throttle } from "../throttle/admit";
import { buildMessage } from "./build-message";
import type { ReservedText } from "./long-texts";
import { settleFailure, settleOutcome, settleScriptedSuppressed, settleSuppressed } from "./outcome";
import type { SigningRequest } from "./signing-keys";
import type { StoredMessage } from "./stored-messages";

/** Maximum duration of one attempt, tarpits included. */
const attemptMs = 15 * 60_000;

/**
 * Claims of one email that one attempt covers. Without a route only scripted and suppressed recipients get
 * results.
 */
export type EmailJob = {
  claims: Claim[];
  email: StoredMessage;
  route: Route | null;
  text: ReservedText;
  /** The operator's rules for replies. */
  replyRules: readonly OwnRule[];
};

type Work = Pick<EmailJob, "email" | "replyRules"> & { route: Route };

/** What all attempts of a worker share. */
export type AttemptParts = {
  deps: WorkerDeps;
  lease: Pick<Runner<Claim>, "isDraining" | "ownsLease" | "signal">;
  throttle: Throttle;
  requeue(verdicts: ReadonlyMap<Claim, Requeue>): Promise<void>;
  findKeys(request: SigningRequest): Promise<SigningKey[]>;
};

/**
 * Makes one attempt for recipients of an email that were claimed together. Suppressed and scripted recipients
 * get their results without a server. Delivery failures are results; claims without one return to the queue.
 * Throws if the database is unavailable before the dialogue; the leases then expire.
 */
export async function attemptEmail(parts: AttemptParts, job: EmailJob): Promise<DeliveryResult[]> {
  const { email, claims, route } = job;
  const pause = await parts.throttle.findPause(email);
  if (pause) {
    await parts.requeue(new Map(claims.map((claim) => [claim, pause])));
    return [];
  }
  if (email.domainId === null) return claims.map((claim) => settleFailure(claim, unlinkedReason(email)));
  const suppressed: DeliveryResult[] = [];
  const scripted: Claim[] = [];
  const real: Claim[] = [];
  for (const claim of claims) {
    const origin = email.suppressed?.[claim.id];
    if (origin) suppressed.push(settleSuppressed(claim, origin));
    else (claim.domain === BUILT_IN_DOMAIN ? scripted : real).push(claim);
  }
  const results = await Promise.all([
    suppressed,
    ...scripted.map((claim) => attemptScripted(parts, email, claim)),
    real.length === 0
      ? []
      : route
        ? attemptRecipients(parts, job, route, real)
        : requeueWithoutTransport(parts, real),
  ]);
  return results.flat();
}

/** Without a route the email waits for one. The claims of many emails are returned by one statement. */
async function requeueWithoutTransport(
  { requeue }: AttemptParts,
  claims: Claim[],
): Promise<DeliveryResult[]> {
  await requeue(new Map(claims.map((claim) => [claim, { rule: "no_transport", waitMs: 0 }])));
  return [];
}

/**
 * A deleted domain, a removed key link or a domain lost to another team also blocks email accepted before.
 */
const unlinkedReason = ({ senderDomain }: StoredMessage): string =>
  `${senderDomain} was deleted, is now verified for another team, or is no longer linked to the API key that sent this email. The email is not sent.`;

async function attemptScripted(
  { deps, lease: { signal } }: AttemptParts,
  email: StoredMessage,
  claim: Claim,
): Promise<DeliveryResult[]> {
  const span = startSpan(deps, email, [claim]);
  const { outcome, ...script } = scriptedOutcome(claim.address, claim.attempt);
  // The wait comes before any write: if the worker dies meanwhile, the claim is repeated.
  await wait(script.afterMs + (script.complaintAfterMs ?? 0), undefined, { signal }).catch(() => {});
  span?.set({ "backstamp.transport": "test", "backstamp.outcome": outcome.kind });
  span?.end();
  if (signal.aborted) return [];
  if (script.isSuppressed) return [settleScriptedSuppressed(claim, outcome.reason)];
  if (deps.metrics) recordOutcome(deps.metrics, "test", claim, outcome);
  const { retryAfterMs: scriptedWaitMs, complaintAfterMs } = script;
  const complains = complaintAfterMs !== null;
  return [
    settleOutcome(claim, outcome, {
      policy: email.policy,
      random: 0,
      isFinal: true,
      scriptedWaitMs,
      complains,
    }),
  ];
}

/** The text is generated first, before the email occupies a slot that another one could use. */
async function attemptRecipients(
  parts: AttemptParts,
  job: EmailJob,
  route: Route,
  claims: Claim[],
): Promise<DeliveryResult[]> {
  const email = await job.text.complete();
  const transactions = groupByTransaction(parts.deps, email, route, claims);
  const work = { email, route, replyRules: job.replyRules };
  const results = transactions.map((group) => attemptTransaction(parts, work, group));
  return (await Promise.all(results)).flat();
}

/**
 * Groups recipients by SMTP transaction. They share one, unless each copy is individual: an unsubscribe link,
 * tracking, or a return path.
 */
function groupByTransaction(
  deps: WorkerDeps,
  email: StoredMessage,
  route: Route,
  claims: Claim[],
): Claim[][] {
  const { listUnsubscribe, tracksOpens, tracksClicks } = email;
  const hasReturnPath = returnPathDomainOf(deps, email, route.isByDestination) !== null;
  const isIndividual = listUnsubscribe || tracksOpens || tracksClicks || hasReturnPath;
  return isIndividual ? claims.map((claim) => [claim]) : [claims];
}

/** One SMTP transaction, as a span that continues the trace of the request. */
async function attemptTransaction(
  parts: AttemptParts,
  work: Work,
  claims: Claim[],
): Promise<DeliveryResult[]> {
  const span = startSpan(parts.deps, work.email, claims);
  try {
    const results = await runTransaction(parts, work, claims, span);
    span?.set({ "backstamp.result": results[0]?.status ?? "requeued" });
    return results;
  } catch (error) {
    span?.fail("internal");
    throw error;
  } finally {
    span?.end();
  }
}

const startSpan = ({ tracer }: WorkerDeps, { id, traceparent }: StoredMessage, claims: Claim[]) =>
  tracer?.start("attempt", {
    kind: "consumer",
    parent: traceparent,
    attributes: {
      "backstamp.email_id": id,
      "backstamp.attempt": claims[0]?.attempt ?? 0,
      "backstamp.recipients": claims.length,
    },
  });

/** A step that returns no permit or no claims ends it: the claims were requeued, or their leases are lost. */
async function runTransaction(
  parts: AttemptParts,
  { email, route, replyRules }: Work,
  claims: Claim[],
  span: Span | undefined,
): Promise<DeliveryResult[]> {
  const permit = await admit(parts, email, route, claims);
  if (!permit) return [];
  let outcomes: Outcome[] | null = null;
  try {
    const built = await build(parts, email, route, claims, span);
    if ("results" in built) return built.results;
    const started = await handOver(parts, email, claims);
    if (!(await startDialogue(parts, permit, started))) return [];
    const replied = await deliver(parts, route, built.message, started, span);
    outcomes = replied.map((outcome, n) => applyOwnRules(replyRules, started[n]?.domain ?? "", outcome));
    logFaults(parts.deps, email, route, outcomes);
    return settle(email, route, started, outcomes);
  } finally {
    permit.end(outcomes);
  }
}

/** Waits for a permit, or requeues the claims. */
async function admit(
  parts: AttemptParts,
  email: StoredMessage,
  route: Route,
  claims: Claim[],
): Promise<Permit | null> {
  if (!canStart(parts, claims)) return null;
  const permit = await parts.throttle.admit(claims, email, route);
  if (!("rule" in permit)) return permit;
  await parts.requeue(new Map(claims.map((claim) => [claim, permit])));
  return null;
}

async function build(
  { deps, findKeys }: AttemptParts,
  email: StoredMessage,
  route: Route,
  claims: Claim[],
  span: Span | undefined,
) {
  const compose = deps.tracer?.start("compose", { parent: span?.traceparent });
  return buildMessage(deps, email, claims, route, findKeys).finally(() => compose?.end());
}

const canStart = ({ lease }: AttemptParts, claims: Claim[]): boolean =>
  !lease.isDraining() && claims.every(lease.ownsLease);

/**
 * Commits that the dialogue is about to start. Returns the claims that may be sent; those over a daily cap
 * are requeued.
 */
async function handOver(
  { lease, throttle, requeue }: AttemptParts,
  email: StoredMessage,
  claims: Claim[],
): Promise<Claim[]> {
  const mine = lease.isDraining() ? [] : claims.filter(lease.ownsLease);
  if (mine.length === 0) return [];
  const { started, delayed } = await throttle.handOver(mine, email);
  if (delayed.size > 0) await requeue(delayed);
  return started;
}

/** Waits for a slot. False if the claims are lost or requeued: the wait may have taken long. */
async function startDialogue(parts: AttemptParts, permit: Permit, claims: Claim[]): Promise<boolean> {
  if (claims.length === 0) return false;
  const pause = await permit.startDialogue();
  if (!canStart(parts, claims)) return false;
  if (pause) await parts.requeue(new Map(claims.map((claim) => [claim, pause])));
  return pause === null;
}

const deliver = (
  { lease }: AttemptParts,
  route: Route,
  message: OutgoingMessage,
  claims: Claim[],
  span: Span | undefined,
): Promise<Outcome[]> =>
  route.deliver(message, claims, {
    deadlineMs: attemptMs,
    isLeaseValid: () => claims.every(lease.ownsLease),
    signal: lease.signal,
    traceparent: span?.traceparent,
  });

const settle = (
  { policy }: StoredMessage,
  { isFinal, retriesFaultsIndefinitely }: Route,
  claims: Claim[],
  outcomes: readonly Outcome[],
): DeliveryResult[] =>
  claims.map((claim, index) => {
    const outcome = outcomes[index];
    if (!outcome) throw new TypeError("the route returned no outcome for a recipient");
    return settleOutcome(claim, outcome, {
      policy,
      random: Math.random(),
      recipients: claims.length,
      isFinal,
      retriesFaultsIndefinitely,
    });
  });

/** Logs faults on our side, and replies whose code and enhanced code contradict each other. */
function logFaults(
  { log }: WorkerDeps,
  { id: emailId }: StoredMessage,
  { retriesFaultsIndefinitely }: Route,
  outcomes: readonly Outcome[],
): void {
  const failed = outcomes.find(({ cause }) => cause !== undefined);
  if (failed) log.error("transport.failed", { emailId, host: failed.host, ...errorFacts(failed.cause) });
  for (const { host, reply } of outcomes)
    if (reply && isContradictory(reply))
      log.info("reply.contradictory", { emailId, host, code: reply.code, enhanced: reply.enhanced });
  const alarming = outcomes.find(({ alarm }) => alarm !== undefined);
  // Faults of relays are logged with the relay.
  if (alarming && !retriesFaultsIndefinitely)
    log.error("transport.alarm", { alarm: alarming.alarm, host: alarming.host, emailId });
}
