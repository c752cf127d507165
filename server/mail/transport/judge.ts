import { type Outcome, outcomeOfReply, parseSmtpReply, quote, type Reply } from "../outcome";
import { classifyReply } from "../replies/classify";
import type { Exchange } from "./smtp/transcript";

/**
 * Why a dialogue ended before all replies arrived; `reply` is the server's reply about it and `dialogue` the
 * transcript, if any.
 */
export type Breakdown = Pick<Outcome, "alarm" | "dialogue" | "reason"> & { reply?: Reply };

/** The record of one attempt at one message over one connection. */
export type Attempt = {
  host: string;
  exchanges: readonly Exchange[];
  /** Whether the final dot may have reached the socket. */
  dotReleased: boolean;
  /** `null` if the dialogue ended normally. */
  breakdown: Breakdown | null;
};

type Replies = {
  mail: Reply | null;
  rcpt: ReadonlyMap<string, Reply>;
  data: Reply | null;
  final: Reply | null;
};

/**
 * Determines the outcome of each recipient from the recorded replies. Without a 354, or before the final dot
 * was written, the message was certainly not accepted: deferred. With the dot written and no final reply the
 * outcome is unknown. A rejection at RCPT applies to that recipient, whatever the outcome of the others.
 */
export function judgeAttempt(attempt: Attempt, recipients: readonly string[]): Outcome[] {
  const replies = readReplies(attempt.exchanges);
  return recipients.map((recipient) => judgeRecipient(attempt, replies, recipient));
}

function judgeRecipient(attempt: Attempt, { mail, rcpt, data, final }: Replies, recipient: string): Outcome {
  const { host } = attempt;
  if (mail !== null && !wasAccepted(mail)) return outcomeOfReply(recipient, mail, host, "mail");
  const own = rcpt.get(recipient) ?? null;
  if (own !== null && !wasAccepted(own))
    return isTooMany(own) && followsAccepted(rcpt, recipient)
      ? leaveForNext(recipient, own, host)
      : outcomeOfReply(recipient, own, host, "rcpt");
  if (data !== null && !wasAccepted(data) && !isGoAhead(data))
    return outcomeOfReply(recipient, data, host, "data");
  if (final !== null && !(wasAccepted(final) && !attempt.dotReleased))
    return outcomeOfReply(recipient, final, host, "message");

  const reason = attempt.breakdown?.reason ?? `${host} replied before the message was complete.`;
  const common = { recipient, reply: null, host };
  return attempt.dotReleased
    ? { ...common, kind: "unknown", reason: `${endSentence(reason)} The message had been sent completely.` }
    : { ...common, kind: "deferred", reason, alarm: attempt.breakdown?.alarm };
}

/** The text of a connection error, which ends the reason, has no full stop of its own. */
const endSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/**
 * Whether the reply means "too many recipients" (RFC 5321 section 4.5.3.1.10): 452, or 552 from older
 * servers. With an enhanced code x.2.x it concerns a mailbox, for example a full one.
 */
const isTooMany = ({ code, enhanced }: Reply): boolean =>
  (code === 452 || code === 552) && !/^[45]\.2\./.test(enhanced ?? "");

/** Whether an earlier recipient was accepted: the next transaction then has fewer recipients. */
function followsAccepted(rcpt: ReadonlyMap<string, Reply>, recipient: string): boolean {
  for (const [address, reply] of rcpt) {
    if (address === recipient) return false;
    if (wasAccepted(reply)) return true;
  }
  return false;
}

function leaveForNext(recipient: string, reply: Reply, host: string): Outcome {
  const reason = `${host} accepts no more recipients in one transaction: ${quote(reply)}`;
  const { class: replyClass, rule: replyRule } = classifyReply({ ...reply, code: 452 }, false);
  return {
    recipient,
    kind: "deferred",
    class: replyClass,
    replyRule,
    reply,
    host,
    reason,
    nextTransaction: true,
  };
}

/** Deferred outcomes for recipients that were never sent to the server. */
export const deferAll = (
  recipients: readonly string[],
  host: string | null,
  { reason, alarm, reply, dialogue }: Breakdown,
): Outcome[] =>
  setOutcome(recipients, { kind: "deferred", reply, host, reason, alarm, dialogue: dialogue || undefined });

/** The same outcome for each recipient; without a reply unless one is given. */
export const setOutcome = (
  recipients: readonly string[],
  { reply = null, ...outcome }: Omit<Outcome, "recipient" | "reply"> & { reply?: Reply | null },
): Outcome[] => recipients.map((recipient) => ({ recipient, reply, ...outcome }));

function readReplies(exchanges: readonly Exchange[]): Replies {
  let mail: Reply | null = null;
  let data: Reply | null = null;
  let final: Reply | null = null;
  const rcpt = new Map<string, Reply>();
  for (const { command, reply } of exchanges) {
    if (reply === null) continue;
    const address = /^RCPT TO:<([^>]*)>/.exec(command)?.[1];
    if (command.startsWith("MAIL FROM:")) mail = parseSmtpReply(reply);
    else if (address !== undefined) rcpt.set(address, parseSmtpReply(reply));
    else if (command === "DATA") data = parseSmtpReply(reply);
    // An unsolicited reply after DATA is the server's verdict on the message.
    else if ((command === "." || command === "") && data !== null) final = parseSmtpReply(reply);
  }
  return { mail, rcpt, data, final };
}

/** While a message is sent only the first digit is checked; this must accept the same replies. */
function wasAccepted(reply: Reply): boolean {
  return reply.code === null ? reply.text.startsWith("2") : reply.code < 300;
}

function isGoAhead(reply: Reply): boolean {
  return reply.code === null ? reply.text.startsWith("3") : reply.code < 400;
}
