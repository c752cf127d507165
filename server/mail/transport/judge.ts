import { type Outcome, outcomeOfReply, type Reply, readReply } from "../outcome";
import type { Exchange } from "./transcript";

/** Why a dialogue ended before all its replies had come. `reply` is what the server said to that, if anything. */
export type Breakdown = { reason: string; alarm?: "auth" | "tls" | "connect"; reply?: Reply };

/** All that is known of one attempt at one message over one connection. */
export type Attempt = {
  host: string;
  exchanges: readonly Exchange[];
  /** Whether the final dot may have reached the socket. */
  dotReleased: boolean;
  /** `null` when the dialogue came to its regular end. */
  breakdown: Breakdown | null;
};

type Replies = {
  mail: Reply | null;
  rcpt: ReadonlyMap<string, Reply>;
  data: Reply | null;
  final: Reply | null;
};

/**
 * Judges each recipient by what was really said, not by how the client library felt about it. Without a 354, or before
 * the final dot was written, the message was surely not accepted: deferred. With the dot written and no final reply
 * nobody can know: unknown. A recipient's own refusal at RCPT stands, whatever became of the others.
 */
export function judgeAttempt(attempt: Attempt, recipients: readonly string[]): Outcome[] {
  const replies = readReplies(attempt.exchanges);
  return recipients.map((recipient) => judgeRecipient(attempt, replies, recipient));
}

function judgeRecipient(attempt: Attempt, { mail, rcpt, data, final }: Replies, recipient: string): Outcome {
  const { host } = attempt;
  if (mail !== null && !wasAccepted(mail)) return outcomeOfReply(recipient, mail, host, "mail");
  const own = rcpt.get(recipient) ?? null;
  if (own !== null && !wasAccepted(own)) return outcomeOfReply(recipient, own, host, "rcpt");
  if (data !== null && !wasAccepted(data) && !isGoAhead(data))
    return outcomeOfReply(recipient, data, host, "data");
  if (final !== null && !(wasAccepted(final) && !attempt.dotReleased))
    return outcomeOfReply(recipient, final, host, "message");

  const reason = attempt.breakdown?.reason ?? `${host} answered before the message was complete.`;
  const alarm = attempt.breakdown?.alarm;
  if (attempt.dotReleased)
    return {
      recipient,
      kind: "unknown",
      reply: null,
      host,
      reason: `${reason} The message had been sent completely.`,
    };
  return {
    recipient,
    kind: "deferred",
    reply: null,
    host,
    reason,
    ...(alarm === undefined ? {} : { alarm }),
  };
}

/** Outcomes for recipients of whom the server never heard. */
export function deferAll(recipients: readonly string[], host: string, breakdown: Breakdown): Outcome[] {
  const { reason, alarm, reply = null } = breakdown;
  return recipients.map((recipient) => ({
    recipient,
    kind: "deferred",
    reply,
    host,
    reason,
    ...(alarm === undefined ? {} : { alarm }),
  }));
}

/** The same where the connection itself could not be made; what was said until then belongs to each of them. */
export function deferUnsent(
  recipients: readonly string[],
  host: string,
  failure: Breakdown & { dialogue: string },
): Outcome[] {
  const outcomes = deferAll(recipients, host, failure);
  return failure.dialogue === ""
    ? outcomes
    : outcomes.map((outcome) => ({ ...outcome, dialogue: failure.dialogue }));
}

function readReplies(exchanges: readonly Exchange[]): Replies {
  let mail: Reply | null = null;
  let data: Reply | null = null;
  let final: Reply | null = null;
  const rcpt = new Map<string, Reply>();
  for (const { command, reply } of exchanges) {
    if (reply === null) continue;
    const address = /^RCPT TO:<([^>]*)>/.exec(command)?.[1];
    if (command.startsWith("MAIL FROM:")) mail = readReply(reply);
    else if (address !== undefined) rcpt.set(address, readReply(reply));
    else if (command === "DATA") data = readReply(reply);
    // A reply that no command asked for, after DATA, is the server's word on the message itself.
    else if ((command === "." || command === "") && data !== null) final = readReply(reply);
  }
  return { mail, rcpt, data, final };
}

/** The client goes by the first digit, so what it took for consent must count as consent here. */
function wasAccepted(reply: Reply): boolean {
  return reply.code === null ? reply.text.startsWith("2") : reply.code < 300;
}

function isGoAhead(reply: Reply): boolean {
  return reply.code === null ? reply.text.startsWith("3") : reply.code < 400;
}
