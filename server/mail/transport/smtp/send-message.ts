import type { Outcome } from "../../outcome";
import { judgeAttempt } from "../judge";
import type { OutgoingMessage, SendWatch } from "../transport";
import type { Connection } from "./connection";
import type { Dialogue } from "./dialogue";
import { formatEnvelope, type Offers } from "./envelope";
import type { Exchange } from "./transcript";

/** The open connection and the extensions of its server. */
export type Sender = { connection: Connection; dialogue: Dialogue; host: string; offers: Offers };

/**
 * Sends one message over an open connection: MAIL, RCPT for each distinct recipient, DATA, and the final dot
 * only if `isLeaseValid()` is true. Returns one outcome per entry of `recipients`, in order. A message above
 * the announced SIZE, or one that needs a missing SMTPUTF8, is rejected without a command to the server.
 * 8-bit content is sent in its 7-bit form to a server without 8BITMIME. The promise never rejects.
 * `isUnprocessed`: the connection was closed before the server processed any command of this message.
 * `needsReset`: the connection is usable, but may have an unfinished transaction.
 */
export async function sendMessage(
  sender: Sender,
  given: OutgoingMessage,
  recipients: readonly string[],
  watch: SendWatch,
): Promise<{ outcomes: Outcome[]; isUnprocessed: boolean; needsReset: boolean }> {
  const message = sender.offers.eightBitMime ? given : { ...given, ...given.sevenBit };
  const rejections = recipients.map((recipient) => rejectUnsupported(sender, message, recipient));
  const accepted = [...new Set(recipients.filter((_, index) => rejections[index] === null))];
  if (accepted.length === 0)
    return { outcomes: rejections.filter((one) => one !== null), isUnprocessed: false, needsReset: false };

  const { connection, host } = sender;
  const { transcript } = connection;
  transcript.begin();
  const stopWatching = connection.breakOn(watch.signal);
  const dotReleased = await runTransaction(sender, message, accepted, watch);
  stopWatching();
  const exchanges = transcript.exchanges();
  const attempt = { host, exchanges, dotReleased, breakdown: connection.breakdown() };
  const judged = judgeAttempt(attempt, recipients);
  const outcomes = judged.map((outcome, index) => {
    const rejection = rejections[index] ?? null;
    return rejection ?? { ...outcome, dialogue: transcript.dialogue(outcome.recipient) };
  });

  const last = exchanges.at(-1);
  const isFinished = last?.command === "." && last.reply !== null;
  if (awaitsContent(exchanges) && !isFinished)
    connection.break({ reason: "The message was not sent completely." });
  const opening = exchanges[0]?.reply ?? null;
  return {
    outcomes,
    isUnprocessed: connection.isBroken() && (opening === null || opening.startsWith("421")),
    needsReset: !(isFinished && last.reply?.startsWith("2")),
  };
}

/**
 * Sends the envelope and, if the server accepts it, the message. With PIPELINING all commands of the envelope
 * leave at once (RFC 2920). Returns whether the final dot may have reached the server.
 */
async function runTransaction(
  { connection, dialogue, offers }: Sender,
  message: OutgoingMessage,
  recipients: readonly string[],
  watch: SendWatch,
): Promise<boolean> {
  const { mail, rcpts } = formatEnvelope(message, recipients, offers);
  const exchanges = connection.transcript.exchanges();
  const isAccepted = (at: number) => exchanges[at]?.reply?.startsWith("2") === true;
  const hasRecipient = () => isAccepted(0) && rcpts.some((_, index) => isAccepted(index + 1));

  if (offers.pipelining) await dialogue.exchange([mail, ...rcpts, "DATA"]);
  else {
    await dialogue.exchange([mail]);
    for (const rcpt of rcpts) if (isAccepted(0)) await dialogue.exchange([rcpt]);
    if (hasRecipient()) await dialogue.exchange(["DATA"]);
  }
  // A server that accepts DATA after it rejected the sender could deliver an empty message: it gets no final
  // dot, and the connection is closed.
  if (!awaitsContent(exchanges) || !isAccepted(0)) return false;
  if (!hasRecipient()) {
    // After 354 the message ends without content (RFC 2920, 3.1). The reply concerns no recipient.
    await dialogue.exchange(["."]);
    return false;
  }
  return dialogue.transfer(message.bytes, () => {
    if (hasLease(watch)) return true;
    connection.break({ reason: "The lease was lost before the final dot." });
    return false;
  });
}

/** Whether the server began to read a message. Some servers reply 250 instead of 354. */
const awaitsContent = (exchanges: readonly Exchange[]): boolean =>
  exchanges.some(({ command, reply }) => command === "DATA" && /^[23]/.test(reply ?? ""));

/** A check that throws counts as a lost lease. */
function hasLease(watch: SendWatch): boolean {
  try {
    return watch.isLeaseValid();
  } catch {
    return false;
  }
}

function rejectUnsupported(
  { host, offers }: Sender,
  message: OutgoingMessage,
  recipient: string,
): Outcome | null {
  const reject = (reason: string): Outcome => ({ recipient, kind: "rejected", reply: null, host, reason });
  if (/[\r\n<>]/.test(message.returnPath + recipient))
    return reject("The sender or the recipient contains characters that SMTP commands cannot contain.");
  if (offers.sizeMax > 0 && message.bytes.length > offers.sizeMax)
    return reject(
      `The message has ${message.bytes.length} bytes, but ${host} accepts at most ${offers.sizeMax} bytes.`,
    );
  if (offers.smtpUtf8) return null;
  if (message.smtpUtf8)
    return reject(`The message header is not ASCII and needs SMTPUTF8, which ${host} does not support.`);
  if (/[^\0-\x7f]/.test(recipient))
    return reject(`The address needs SMTPUTF8, which ${host} does not support.`);
  return null;
}
