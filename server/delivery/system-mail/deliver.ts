import type { HotSql } from "#db/client";
import { isDatabaseUnreachable } from "#db/faults";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { WorkerDeps } from "#server/deps";
import { type Mailbox, parseMailbox, parseStoredMailbox } from "#server/mail/address/address";
import { cleanText, type Outcome } from "#server/mail/outcome";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { upTo } from "#server/platform/batches";
import { errorFacts } from "#server/platform/log";
import { createRunner, type Runner, type RunnerOptions } from "../queue/runner";
import type { Routing } from "../routing/routes";
import { composeCopy } from "./copy";
import { composeSystemEmail } from "./outgoing";
import {
  type CopyClaim,
  claimCopy,
  claimSystemEmails,
  type OwnEmailClaim,
  type OwnEmailResult,
  recordCopies,
  recordSystemEmails,
  type SystemEmailClaim,
} from "./queue";

/** Seconds to wait after the nth failed attempt. The last entry repeats until the email expires. */
export const SYSTEM_EMAIL_RETRY_AFTER_SECONDS = [15, 60, 180, 300, 600, 1_800, 10_800] as const;

const concurrencyMax = 4;
/**
 * Short, because a person waits for the email. After a crash it is sent again. A second copy is harmless,
 * because each link works only once.
 */
const attemptMs = 90_000;
const leaseMs = 120_000;

type Result = Pick<OwnEmailResult, "status" | "reply">;

/** One of the two queues of Backstamp's own email. */
type OwnEmailQueue<Claim extends OwnEmailClaim> = {
  name: "system_mail" | "return_copy";
  claim(hot: HotSql, wanted: { limit: number; leaseToken: string; forMs: number }): Promise<Claim[]>;
  /** Null if the recipient may no longer have the email. */
  compose(
    deps: WorkerDeps,
    claim: Claim,
    recipient: Mailbox,
    isDirect: boolean,
  ): Promise<OutgoingMessage | null>;
  record: typeof recordSystemEmails;
};

/** Sends system email. See `createOwnEmailSender`. */
export const createSystemEmailSender = (deps: WorkerDeps, routing: Routing, options?: RunnerOptions) =>
  createOwnEmailSender<SystemEmailClaim>(
    {
      name: "system_mail",
      claim: claimSystemEmails,
      compose: composeSystemEmail,
      record: recordSystemEmails,
    },
    deps,
    routing,
    options,
  );

/**
 * Sends the copies of returned messages, apart from system email: a person waits for that, and a mailbox that
 * does not respond must not delay it.
 */
export const createCopySender = (deps: WorkerDeps, routing: Routing, options?: RunnerOptions) =>
  createOwnEmailSender<CopyClaim>(
    { name: "return_copy", claim: claimCopy, compose: composeCopy, record: recordCopies },
    deps,
    routing,
    options,
  );

/**
 * Sends Backstamp's own email by the installation's route. Unlike the engine it has no throttling, caps or
 * events. An email with an expired lease is sent again. The owner of the routing closes it.
 */
function createOwnEmailSender<Claim extends OwnEmailClaim>(
  queue: OwnEmailQueue<Claim>,
  deps: WorkerDeps,
  routing: Routing,
  options: RunnerOptions = {},
): Runner<Claim> {
  const { hot, log } = deps;
  const { name } = queue;

  async function attempt(claim: Claim): Promise<Result> {
    if (claim.isExpired) return { status: "failed", reply: "The email expired before it was sent." };
    const read = parseMailbox(claim.recipient);
    if (!read.ok) return { status: "failed", reply: read.fault };
    const recipient = read.mailbox;
    if (recipient.domain === BUILT_IN_DOMAIN)
      return { status: "failed", reply: `${BUILT_IN_DOMAIN} has no mailboxes.` };
    // Captured system email is not shown anywhere, so its recipient would wait forever.
    const isCaptured = deps.transport?.name === "capture";
    const route = isCaptured ? null : (await routing.read([]))({ teamId: "", domainId: null });
    if (route === null) return { status: "queued", reply: "Outgoing email is not configured." };
    let message: OutgoingMessage | null;
    try {
      message = await queue.compose(deps, claim, recipient, route.isByDestination);
    } catch (error) {
      if (isDatabaseUnreachable(error)) throw error;
      // A retry would fail in the same way.
      log.error(`${name}.not_composed`, { id: claim.id, kind: claim.kind, ...errorFacts(error) });
      return { status: "failed", reply: "The message could not be composed." };
    }
    if (message === null) return { status: "dropped", reply: null };
    const deliver = (returnPath: string) =>
      route.deliver({ ...message, returnPath }, [recipient], {
        deadlineMs: attemptMs,
        isLeaseValid: () => runner.ownsLease(claim),
        signal: runner.signal,
      });
    let [outcome] = await deliver(message.returnPath);
    // Some relays accept only the sender's address.
    const isSenderRejected = outcome?.kind === "rejected" && outcome.step === "mail";
    if (message.returnPath === "" && isSenderRejected && !route.isByDestination)
      [outcome] = await deliver(parseStoredMailbox(deps.home.sender).address);
    if (outcome?.alarm && !route.retriesFaultsIndefinitely)
      log.error("transport.alarm", { alarm: outcome.alarm, host: outcome.host, systemMailId: claim.id });
    return classify(outcome, claim.attempt);
  }

  const runner: Runner<Claim> = createRunner<
    Claim,
    { claims: [Claim] },
    OwnEmailResult,
    OwnEmailResult["status"]
  >(
    {
      name,
      leaseMs,
      batching: { countNext: upTo(1) },
      hasCapacity: () => runner.attempting.size < concurrencyMax,
      async claim(leaseToken) {
        const limit = concurrencyMax - runner.attempting.size;
        const claims = await queue.claim(hot, { limit, leaseToken, forMs: leaseMs });
        return {
          jobs: claims.map((claim): { claims: [Claim] } => ({ claims: [claim] })),
          hasMore: claims.length > 0,
        };
      },
      async run({ claims: [claim] }) {
        const { id, leaseToken } = claim;
        return [{ id, leaseToken, ...(await attempt(claim)), retryAfterMs: retryAfterMs(claim.attempt) }];
      },
      record: (results) => queue.record(hot, results),
      onWritten({ claims: [{ id, kind, attempt }] }, _result, status) {
        if (status === "failed") log.error(`${name}.failed`, { id, kind, attempt });
        if (status === "sent") log.info(`${name}.sent`, { id, kind, attempt });
      },
    },
    log,
    options,
  );
  return runner;
}

/**
 * A rejection is final, because the person does not wait for a new mailbox. An exception is a missing domain,
 * which can be a single wrong DNS response: it is checked once more.
 */
function classify(outcome: Outcome | undefined, attempt: number): Result {
  const reply = cleanText(outcome?.reason ?? "The route returned no outcome.");
  if (outcome?.kind === "accepted") return { status: "sent", reply };
  const isFinal = outcome?.kind === "rejected" && !(outcome.needsConfirmation && attempt === 1);
  return { status: isFinal ? "failed" : "queued", reply };
}

function retryAfterMs(attempt: number): number {
  const schedule = SYSTEM_EMAIL_RETRY_AFTER_SECONDS;
  return (schedule[Math.min(attempt, schedule.length) - 1] ?? 0) * 1_000;
}
