import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseUnreachable } from "#db/faults";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { WorkerDeps } from "#server/deps";
import { cleanText, type Outcome } from "#server/mail/outcome";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { composeSystemEmail } from "#server/services/system-mail/outgoing";
import { createRouting, type Route } from "../routing/routes";
import { claimSystemEmails, deferSystemEmail, finishSystemEmail, type SystemEmailClaim } from "./queue";

/** Seconds to wait after the nth failed attempt. The last entry repeats until the email expires. */
export const SYSTEM_EMAIL_RETRY_AFTER_SECONDS = [15, 60, 180, 300, 600, 1_800, 10_800] as const;

const concurrencyMax = 4;
/**
 * Short, because a person waits for the email. After a crash it is sent again. A second copy is harmless, because each link
 * works only once.
 */
const attemptMs = 90_000;
const leaseMs = 120_000;

export type SystemEmailSender = {
  /** Claims due emails and starts their attempts. False if nothing was due or there was no capacity. */
  pump(): Promise<boolean>;
  /** Resolves when no attempt is in progress, or after `maxMs`. */
  idle(maxMs: number): Promise<void>;
  /** Starts no new attempt and waits for dialogues. Aborts them after `graceMs`. */
  drain(graceMs: number): Promise<void>;
};

/** Result of an attempt. */
type Result =
  | { status: "sent" | "failed" | "dropped"; reply: string | null }
  | { status: "deferred"; reply: string };

/**
 * Sends Backstamp's own email by the installation's route. Unlike the engine it has no throttling, caps or events. Its
 * memory holds no durable state: after a crash, emails in progress are sent again when their leases expire.
 */
export function createSystemEmailSender(
  deps: WorkerDeps,
  options: { onCapacity?: () => void } = {},
): SystemEmailSender {
  const { hot, log } = deps;
  const routing = createRouting(deps);
  const jobs = new Set<Promise<void>>();
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  let isDraining = false;

  async function attempt(claim: SystemEmailClaim, deadlineMs: number): Promise<Result> {
    if (claim.isExpired) return { status: "failed", reply: "The email expired before it was sent." };
    if (claim.recipient.endsWith(`@${BUILT_IN_DOMAIN}`))
      return { status: "failed", reply: `${BUILT_IN_DOMAIN} has no mailboxes.` };
    const route = await findRoute();
    if (route === null) return { status: "deferred", reply: "Outgoing email is not configured." };
    let message: OutgoingMessage | null;
    try {
      message = await composeSystemEmail(deps, claim);
    } catch (error) {
      if (isDatabaseUnreachable(error)) throw error;
      // A retry would fail in the same way.
      log.error("system_mail.not_composed", { id: claim.id, kind: claim.kind, ...errorFacts(error) });
      return { status: "failed", reply: "The message could not be composed." };
    }
    if (message === null) return { status: "dropped", reply: null };
    const [outcome] = await route.deliver(message, [claim.recipient], {
      deadlineMs: attemptMs,
      isLeaseValid: () => performance.now() < deadlineMs,
      signal: abort.signal,
    });
    if (outcome?.alarm && !route.retriesFaultsIndefinitely)
      log.error("transport.alarm", { alarm: outcome.alarm, host: outcome.host, systemMailId: claim.id });
    return classify(outcome, claim.attempt);
  }

  async function findRoute(): Promise<Route | null> {
    // Captured system email is not shown anywhere, so its recipient would wait forever.
    if (deps.transport?.name === "capture") return null;
    const routeOf = await routing.read([]);
    return routeOf({ teamId: "", domainId: null });
  }

  async function run(claim: SystemEmailClaim, deadlineMs: number): Promise<void> {
    const { id, kind } = claim;
    const result = await attempt(claim, deadlineMs);
    const status = result.status === "deferred" ? await defer(claim, result.reply) : result.status;
    const ownsLease =
      result.status === "deferred" ? status !== null : await finishSystemEmail(hot, claim, result);
    if (!ownsLease) log.warn("system_mail.lease_lost", { id, kind });
    else if (status === "failed") log.error("system_mail.failed", { id, kind, attempt: claim.attempt });
    else if (status === "sent") log.info("system_mail.sent", { id, kind, attempt: claim.attempt });
  }

  const defer = (claim: SystemEmailClaim, reply: string) =>
    deferSystemEmail(hot, claim, { afterMs: retryAfterMs(claim.attempt), reply });

  return {
    async pump() {
      const capacity = concurrencyMax - jobs.size;
      if (isDraining || capacity <= 0) return false;
      const deadlineMs = performance.now() + attemptMs;
      const claims = await claimSystemEmails(hot, { limit: capacity, leaseToken: newId(), forMs: leaseMs });
      for (const claim of claims) {
        const job = run(claim, deadlineMs)
          // The row stays leased and is sent again after the lease expires.
          .catch((error) => log.warn("system_mail.attempt_broken", { id: claim.id, ...errorFacts(error) }))
          .finally(() => {
            jobs.delete(job);
            options.onCapacity?.();
          });
        jobs.add(job);
      }
      return claims.length > 0;
    },
    async idle(maxMs) {
      const enough = new AbortController();
      const timer = wait(maxMs, undefined, { signal: enough.signal }).catch(() => {});
      await Promise.race([Promise.all(jobs), timer]);
      enough.abort();
    },
    async drain(graceMs) {
      isDraining = true;
      const timer = setTimeout(() => abort.abort(), graceMs);
      while (jobs.size > 0) await Promise.race(jobs);
      clearTimeout(timer);
      await routing.close();
    },
  };
}

/**
 * A rejection is final, because the person does not wait for a new mailbox. An exception is a missing domain, which can be
 * a single wrong DNS response: it is checked once more.
 */
function classify(outcome: Outcome | undefined, attempt: number): Result {
  const reply = cleanText(outcome?.reason ?? "The route returned no outcome.");
  switch (outcome?.kind) {
    case "accepted":
      return { status: "sent", reply };
    case "rejected":
      return outcome.needsConfirmation && attempt === 1
        ? { status: "deferred", reply }
        : { status: "failed", reply };
    default:
      return { status: "deferred", reply };
  }
}

function retryAfterMs(attempt: number): number {
  const schedule = SYSTEM_EMAIL_RETRY_AFTER_SECONDS;
  return (schedule[Math.min(attempt, schedule.length) - 1] ?? 0) * 1_000;
}
