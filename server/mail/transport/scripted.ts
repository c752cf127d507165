import { type Outcome, outcomeOfReply, type Reply } from "../outcome";

/** The built-in test domain. Its recipients have a scripted outcome; email to them is never sent over the network. */
export const SCRIPTED_DOMAIN = "backstamp.test";

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
 * The script of a recipient. `replies[n]` is the reply to attempt n + 1; the last one repeats. `null` simulates a connection
 * lost after the final dot. `afterMs` is the response time. `retryAfterMs` replaces the retry schedule after an attempt
 * without a final outcome. `complaintAfterMs` is the delay between delivery and complaint. `suppressed` recipients are
 * treated as entries of the suppression list: no attempt is made.
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

/** Response time of `slow@`. */
export const SLOW_MS = 3_000;
/** Delay before the next attempt of `deferred@` and `unknown@`. */
export const SCRIPTED_RETRY_MS = 2_000;
/** Delay between the delivery to `complained@` and its complaint. */
export const COMPLAINT_AFTER_MS = 1_000;

const OK: Reply = { code: 250, enhanced: "2.0.0", text: "Accepted and delivered" };
const BUSY: Reply = { code: 451, enhanced: "4.7.0", text: "Try again later" };
const NO_MAILBOX: Reply = { code: 550, enhanced: "5.1.1", text: "The mailbox does not exist" };
const NO_USER: Reply = { code: 550, enhanced: "5.1.1", text: "No such user at backstamp.test" };

const DEFAULTS = {
  afterMs: 0,
  retryAfterMs: SCRIPTED_RETRY_MS,
  complaintAfterMs: null,
  suppressed: false,
} as const;

/** Scripts by local part. A label is allowed, as in `bounced+invoice-7@backstamp.test`. */
export const FATES: Readonly<Record<FateName, Fate>> = {
  delivered: { ...DEFAULTS, name: "delivered", replies: [OK] },
  bounced: { ...DEFAULTS, name: "bounced", replies: [NO_MAILBOX] },
  complained: { ...DEFAULTS, name: "complained", replies: [OK], complaintAfterMs: COMPLAINT_AFTER_MS },
  deferred: { ...DEFAULTS, name: "deferred", replies: [BUSY, BUSY, OK] },
  suppressed: { ...DEFAULTS, name: "suppressed", replies: [NO_MAILBOX], suppressed: true },
  slow: { ...DEFAULTS, name: "slow", replies: [OK], afterMs: SLOW_MS },
  unknown: { ...DEFAULTS, name: "unknown", replies: [null, OK] },
  "no-such-user": { ...DEFAULTS, name: "no-such-user", replies: [NO_USER] },
};

/** The script of an address at `backstamp.test`, case-insensitive; `null` for any other domain. */
export function findScriptedFate(address: string): Fate | null {
  const at = address.lastIndexOf("@");
  if (at === -1 || address.slice(at + 1).toLowerCase() !== SCRIPTED_DOMAIN) return null;
  const name = address.slice(0, at).toLowerCase().split("+", 1)[0] ?? "";
  return Object.hasOwn(FATES, name) ? FATES[name as FateName] : FATES["no-such-user"];
}

/**
 * The outcome and duration of the given attempt (the first is 1) at a scripted recipient. A pure function. Throws a
 * TypeError for an address outside `backstamp.test`.
 */
export function scriptedOutcome(address: string, attempt: number): ScriptedOutcome {
  const fate = findScriptedFate(address);
  if (fate === null) throw new TypeError(`scriptedOutcome is for ${SCRIPTED_DOMAIN} only`);
  const reply = fate.replies[Math.min(Math.max(attempt, 1), fate.replies.length) - 1] ?? null;
  const result = {
    outcome: createOutcome(address, fate, reply),
    afterMs: fate.afterMs,
    retryAfterMs: fate.retryAfterMs,
  };
  if (fate.complaintAfterMs === null) return result;
  return { ...result, followedBy: "complained", followedAfterMs: fate.complaintAfterMs };
}

function createOutcome(recipient: string, fate: Fate, reply: Reply | null): Outcome {
  const host = SCRIPTED_DOMAIN;
  if (fate.suppressed)
    return {
      recipient,
      kind: "rejected",
      reply: null,
      host: null,
      reason: "The address is suppressed. The email was not sent.",
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
