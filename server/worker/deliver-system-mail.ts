import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseAway } from "#db/faults";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import {
  claimSystemMails,
  endSystemMail,
  putOffSystemMail,
  type SystemMailClaim,
} from "#db/system-mail-queue";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/ids";
import { errorFacts } from "#server/log";
import { cleanText, type Outcome } from "#server/mail/outcome";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { outgoingSystemMail } from "#server/services/system-mail/outgoing";
import { createWays, type Way } from "./ways";

/** Seconds to wait after the nth failed attempt, the last of them again and again while somebody waits for the mail. */
export const SYSTEM_MAIL_RETRY_AFTER_SECONDS = [15, 60, 180, 300, 600, 1_800, 10_800] as const;

const atOnceMax = 4;
/**
 * Somebody sits and waits, so a worker that died is found out soon. What is broken off for it is sent again: a link opens
 * once, and a second copy costs a look.
 */
const attemptMs = 90_000;
const leaseMs = 120_000;

export type SystemMailPost = {
  /** Claims what is due and starts on it. False when there was nothing, or no room. */
  pump(): Promise<boolean>;
  /** Settles when nothing is under way, or after `maxMs`. */
  idle(maxMs: number): Promise<void>;
  /** Begins nothing new and lets dialogues end; after `graceMs` they are broken off. */
  drain(graceMs: number): Promise<void>;
};

/** What an attempt came to. */
type Result =
  | { status: "sent" | "failed" | "dropped"; reply: string | null }
  | { status: "put_off"; reply: string };

/**
 * Delivers Posthorn's own mail by the way out of the whole installation. It shares nothing with the engine but that way: no
 * pace, no cap, no event. It holds no state that matters: whatever it dies with is sent again when its lease is over.
 */
export function createSystemMailPost(
  deps: WorkerDeps,
  options: { onRoom?: () => void } = {},
): SystemMailPost {
  const { hot, log } = deps;
  const ways = createWays(deps);
  const jobs = new Set<Promise<void>>();
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  let isDraining = false;

  async function attempt(claim: SystemMailClaim, untilMs: number): Promise<Result> {
    if (claim.isExpired) return { status: "failed", reply: "Nobody waits for it any more." };
    if (claim.recipient.endsWith(`@${BUILT_IN_DOMAIN}`))
      return { status: "failed", reply: `There are no mailboxes at ${BUILT_IN_DOMAIN}.` };
    const way = await findWay();
    if (way === null) return { status: "put_off", reply: "There is no way out." };
    let message: OutgoingMessage | null;
    try {
      message = await outgoingSystemMail(deps, claim);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      // Whatever is wrong with it would be wrong again.
      log.error("system_mail.not_composed", { id: claim.id, kind: claim.kind, ...errorFacts(error) });
      return { status: "failed", reply: "It could not be composed." };
    }
    if (message === null) return { status: "dropped", reply: null };
    const [outcome] = await way.deliver(message, [claim.recipient], {
      deadlineMs: attemptMs,
      stillMine: () => performance.now() < untilMs,
      signal: abort.signal,
    });
    if (outcome?.alarm && !way.waitsOutFaults)
      log.error("transport.alarm", { alarm: outcome.alarm, host: outcome.host, systemMailId: claim.id });
    return judge(outcome, claim.attempt);
  }

  async function findWay(): Promise<Way | null> {
    // Nobody is shown what is captured, so whoever waits for it would wait for good.
    if (deps.transport?.name === "capture") return null;
    const wayOf = await ways.read([]);
    return wayOf({ teamId: "", domainId: null });
  }

  async function run(claim: SystemMailClaim, untilMs: number): Promise<void> {
    const { id, kind } = claim;
    const result = await attempt(claim, untilMs);
    const status = result.status === "put_off" ? await putOff(claim, result.reply) : result.status;
    const isOurs = result.status === "put_off" ? status !== null : await endSystemMail(hot, claim, result);
    if (!isOurs) log.warn("system_mail.lease_lost", { id, kind });
    else if (status === "failed") log.error("system_mail.failed", { id, kind, attempt: claim.attempt });
    else if (status === "sent") log.info("system_mail.sent", { id, kind, attempt: claim.attempt });
  }

  const putOff = (claim: SystemMailClaim, reply: string) =>
    putOffSystemMail(hot, claim, { afterMs: retryAfterMs(claim.attempt), reply });

  return {
    async pump() {
      const room = atOnceMax - jobs.size;
      if (isDraining || room <= 0) return false;
      const untilMs = performance.now() + attemptMs;
      const claims = await claimSystemMails(hot, { limit: room, leaseToken: newId(), forMs: leaseMs });
      for (const claim of claims) {
        const job = run(claim, untilMs)
          // The row stays leased, and is sent again when that is over.
          .catch((error) => log.warn("system_mail.attempt_broken", { id: claim.id, ...errorFacts(error) }))
          .finally(() => {
            jobs.delete(job);
            options.onRoom?.();
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
      await ways.close();
    },
  };
}

/**
 * A refusal is the end: nobody will wait for an address to come into being. But that its domain is missing may be one wrong
 * answer of DNS.
 */
function judge(outcome: Outcome | undefined, attempt: number): Result {
  const reply = cleanText(outcome?.reason ?? "The way out gave no outcome.");
  switch (outcome?.kind) {
    case "accepted":
      return { status: "sent", reply };
    case "rejected":
      return outcome.needsSecondLook && attempt === 1
        ? { status: "put_off", reply }
        : { status: "failed", reply };
    default:
      return { status: "put_off", reply };
  }
}

function retryAfterMs(attempt: number): number {
  const ladder = SYSTEM_MAIL_RETRY_AFTER_SECONDS;
  return (ladder[Math.min(attempt, ladder.length) - 1] ?? 0) * 1_000;
}
