import { type Outcome, outcomeOfReply, type Reply } from "../outcome";

/**
 * The built-in test domain. Its recipients have a scripted outcome; email to them is never sent over the
 * network.
 */
export const SCRIPTED_DOMAIN = "backstamp.test";

/**
 * The script of a recipient. `replies[n]` is the reply to attempt n + 1; the last one repeats. `null`
 * simulates a connection lost after the final dot. `afterMs` is the response time. `retryAfterMs` replaces
 * the retry schedule after an attempt without a final outcome. `complaintAfterMs` is the delay between
 * delivery and complaint. `isSuppressed` recipients are treated as entries of the suppression list: no
 * attempt is made.
 */
export type Fate = {
  replies: readonly (Reply | null)[];
  afterMs: number;
  retryAfterMs: number;
  complaintAfterMs: number | null;
  isSuppressed: boolean;
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

const createFate = (replies: Fate["replies"], more: Partial<Fate> = {}): Fate => ({
  replies,
  afterMs: 0,
  retryAfterMs: SCRIPTED_RETRY_MS,
  complaintAfterMs: null,
  isSuppressed: false,
  ...more,
});

/** Scripts by local part. A label is allowed, as in `bounced+invoice-7@backstamp.test`. */
export const FATES = {
  delivered: createFate([OK]),
  bounced: createFate([NO_MAILBOX]),
  complained: createFate([OK], { complaintAfterMs: COMPLAINT_AFTER_MS }),
  deferred: createFate([BUSY, BUSY, OK]),
  suppressed: createFate([], { isSuppressed: true }),
  slow: createFate([OK], { afterMs: SLOW_MS }),
  unknown: createFate([null, OK]),
  "no-such-user": createFate([NO_USER]),
};

/** The script of an address at `backstamp.test`, case-insensitive. */
export function getScriptedFate(address: string): Fate {
  const [name = ""] = address.toLowerCase().split(/[+@]/, 1);
  return Object.hasOwn(FATES, name) ? FATES[name as keyof typeof FATES] : FATES["no-such-user"];
}

/**
 * The script of an address at `backstamp.test`, and the outcome of the given attempt (the first is 1). A pure
 * function.
 */
export function scriptedOutcome(recipient: string, attempt: number): Fate & { outcome: Outcome } {
  const fate = getScriptedFate(recipient);
  const reply = fate.replies[Math.min(attempt, fate.replies.length) - 1] ?? null;
  const host = SCRIPTED_DOMAIN;
  if (fate.isSuppressed) {
    const reason = "The address is suppressed. The email was not sent.";
    return { ...fate, outcome: { recipient, kind: "rejected", reply, host: null, reason } };
  }
  if (reply !== null) return { ...fate, outcome: outcomeOfReply(recipient, reply, host) };
  const reason = `The connection to ${host} was lost after the final dot.`;
  return { ...fate, outcome: { recipient, kind: "unknown", reply, host, reason } };
}
