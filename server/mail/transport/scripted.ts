import { type Outcome, outcomeOfReply, type Reply } from "../outcome";

/** The built-in domain whose recipients have a fate instead of a mailbox. Nothing sent there leaves the house. */
export const SCRIPTED_DOMAIN = "posthorn.test";

export type FateName =
  | "delivered"
  | "bounced"
  | "complained"
  | "deferred"
  | "suppressed"
  | "slow"
  | "unknown"
  | "no-such-user";

/**
 * What happens to a scripted recipient. `replies[n]` answers attempt n + 1, the last one all that follow; `null` is a
 * connection lost after the final dot. `afterMs` is how long the answer takes, `retryAfterMs` replaces the retry table
 * after an attempt that did not settle the matter, `complaintAfterMs` is when the complaint follows the delivery.
 * `suppressed` recipients stand on an imaginary suppression list and are set aside before any attempt.
 */
export type Fate = {
  name: FateName;
  replies: readonly [Reply | null, ...(Reply | null)[]];
  afterMs: number;
  retryAfterMs: number;
  complaintAfterMs: number | null;
  suppressed: boolean;
};

export type ScriptedOutcome = {
  outcome: Outcome;
  afterMs: number;
  retryAfterMs: number;
  followedBy?: "complained";
  followedAfterMs?: number;
};

/** How long `slow@` takes to accept. */
export const SLOW_MS = 3_000;
/** When the next attempt of `deferred@` and `unknown@` is due. */
export const SCRIPTED_RETRY_MS = 2_000;
/** How long after its delivery `complained@` complains. */
export const COMPLAINT_AFTER_MS = 1_000;

const OK: Reply = { code: 250, enhanced: "2.0.0", text: "Accepted and delivered" };
const BUSY: Reply = { code: 451, enhanced: "4.7.0", text: "Try again later" };
const NO_MAILBOX: Reply = { code: 550, enhanced: "5.1.1", text: "The mailbox does not exist" };
const NO_USER: Reply = { code: 550, enhanced: "5.1.1", text: "No such user at posthorn.test" };

const USUAL = {
  afterMs: 0,
  retryAfterMs: SCRIPTED_RETRY_MS,
  complaintAfterMs: null,
  suppressed: false,
} as const;

/** The fates by local part; each is also reached with a label, as in `bounced+invoice-7@posthorn.test`. */
export const FATES: Readonly<Record<FateName, Fate>> = {
  delivered: { ...USUAL, name: "delivered", replies: [OK] },
  bounced: { ...USUAL, name: "bounced", replies: [NO_MAILBOX] },
  complained: { ...USUAL, name: "complained", replies: [OK], complaintAfterMs: COMPLAINT_AFTER_MS },
  deferred: { ...USUAL, name: "deferred", replies: [BUSY, BUSY, OK] },
  suppressed: { ...USUAL, name: "suppressed", replies: [NO_MAILBOX], suppressed: true },
  slow: { ...USUAL, name: "slow", replies: [OK], afterMs: SLOW_MS },
  unknown: { ...USUAL, name: "unknown", replies: [null, OK] },
  "no-such-user": { ...USUAL, name: "no-such-user", replies: [NO_USER] },
};

/** The fate of an address at `posthorn.test`, in any letter case; `null` at every other domain. */
export function scriptedFate(address: string): Fate | null {
  const at = address.lastIndexOf("@");
  if (at === -1 || address.slice(at + 1).toLowerCase() !== SCRIPTED_DOMAIN) return null;
  const name = address.slice(0, at).toLowerCase().split("+", 1)[0] ?? "";
  return Object.hasOwn(FATES, name) ? FATES[name as FateName] : FATES["no-such-user"];
}

/**
 * What the given attempt (the first is 1) at a scripted recipient ends in, and after how long. A pure function of both
 * arguments. An address outside `posthorn.test` is a mistake of the caller and throws a TypeError.
 */
export function scriptedOutcome(address: string, attempt: number): ScriptedOutcome {
  const fate = scriptedFate(address);
  if (fate === null) throw new TypeError(`scriptedOutcome is for ${SCRIPTED_DOMAIN} only`);
  const reply = fate.replies[Math.min(Math.max(attempt, 1), fate.replies.length) - 1] ?? null;
  const answer = {
    outcome: judge(address, fate, reply),
    afterMs: fate.afterMs,
    retryAfterMs: fate.retryAfterMs,
  };
  if (fate.complaintAfterMs === null) return answer;
  return { ...answer, followedBy: "complained", followedAfterMs: fate.complaintAfterMs };
}

function judge(recipient: string, fate: Fate, reply: Reply | null): Outcome {
  const host = SCRIPTED_DOMAIN;
  if (fate.suppressed)
    return {
      recipient,
      kind: "rejected",
      reply: null,
      host: null,
      reason: "The address is suppressed; nothing was sent.",
    };
  if (reply === null)
    return {
      recipient,
      kind: "unknown",
      reply,
      host,
      reason: `The connection to ${host} was lost after the final dot.`,
    };
  return outcomeOfReply(recipient, reply, host);
}
