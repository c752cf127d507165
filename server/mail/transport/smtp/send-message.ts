import type { Readable } from "node:stream";
import type { Outcome } from "../../outcome";
import { describeConnectionError } from "../describe-connection-error";
import { type Breakdown, judgeAttempt } from "../judge";
import type { OutgoingMessage, SendWatch } from "../transport";
import type { Connection } from "./connection";
import { gatedBody } from "./gated-body";

/** The extensions of a server. `sizeMax` is 0 without a limit. */
export type Offers = { sizeMax: number; smtpUtf8: boolean; eightBitMime: boolean };

/** The open connection and the extensions of its server. */
export type Sender = { connection: Connection; host: string; offers: Offers };

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
    return {
      outcomes: rejections.filter((outcome) => outcome !== null),
      isUnprocessed: false,
      needsReset: false,
    };

  const { connection, host } = sender;
  const { breakdown, dotReleased } = await runDialogue(connection, message, accepted, watch);
  const exchanges = connection.transcript.exchanges();
  const judged = judgeAttempt({ host, exchanges, dotReleased, breakdown }, recipients);
  const outcomes = judged.map((outcome, index) => {
    const rejection = rejections[index] ?? null;
    return rejection ?? { ...outcome, dialogue: connection.transcript.dialogue(outcome.recipient) };
  });

  const last = exchanges.at(-1);
  const isFinished = dotReleased && last?.command === "." && last.reply !== null;
  const isMidBody =
    !dotReleased && exchanges.some(({ command, reply }) => command === "DATA" && /^[23]/.test(reply ?? ""));
  if (isMidBody) connection.break({ reason: "The message was not sent completely." });
  const opening = exchanges[0]?.reply ?? null;
  return {
    outcomes,
    isUnprocessed: connection.isBroken() && (opening === null || opening.startsWith("421")),
    needsReset: !(isFinished && last.reply?.startsWith("2")),
  };
}

async function runDialogue(
  connection: Connection,
  message: OutgoingMessage,
  recipients: readonly string[],
  watch: SendWatch,
): Promise<{ breakdown: Breakdown | null; dotReleased: boolean }> {
  const { client, transcript } = connection;
  let dotReleased = false;
  const mayEnd = (): boolean => {
    if (connection.isBroken()) return false;
    if (!hasLease(watch)) {
      connection.break({ reason: "The lease was lost before the final dot." });
      return false;
    }
    dotReleased = true;
    transcript.command(".");
    connection.restartTimeout();
    return true;
  };
  const body = gatedBody(message.bytes, {
    mayEnd,
    socket: () => client._socket || null,
    onProgress: () => connection.restartTimeout("blockMs"),
  });
  const { returnPath: from, smtpUtf8, sevenBit } = message;
  // The client library sends BODY=8BITMIME only to servers with 8BITMIME.
  const use8BitMime = smtpUtf8 || sevenBit !== undefined;
  const envelope = {
    from,
    to: [...recipients],
    size: message.bytes.length,
    use8BitMime,
    ...requestReports(message, recipients),
  };

  transcript.begin();
  connection.setUtf8Header(smtpUtf8);
  const stopWatching = connection.breakOn(watch.signal);
  const answered = new Promise<Breakdown | null>((resolve) => {
    // The client uses only these two methods of a stream.
    client.send(envelope, body as unknown as Readable, (error) => {
      // Without any exchange the client library itself rejected the message; only its error contains the
      // reason.
      if (error && transcript.exchanges().length === 0)
        connection.break({ reason: describeConnectionError(error) });
      resolve(null);
    });
  });
  const breakdown = await Promise.race([connection.whenBroken, answered]);
  stopWatching();
  connection.stopTimeout();
  body.destroy();
  return { breakdown, dotReleased };
}

/**
 * DSN parameters (RFC 3461): request reports of failures and delays with the header only, and set the email's
 * id and the original recipient. The client library sends them only to servers with DSN and encodes values as
 * xtext. A non-ASCII address is omitted, because it needs a different form (RFC 6533).
 */
function requestReports(
  { id, wantsReports }: OutgoingMessage,
  recipients: readonly string[],
): { dsn?: Reports } {
  const [recipient, ...others] = recipients;
  if (!wantsReports || recipient === undefined || others.length > 0) return {};
  const orcpt = /^[\x21-\x7e]+$/.test(recipient) ? { orcpt: `rfc822;${recipient}` } : {};
  return { dsn: { envid: id, ret: "HDRS", notify: "FAILURE,DELAY", ...orcpt } };
}

type Reports = { envid: string; ret: "HDRS"; notify: string; orcpt?: string };

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
