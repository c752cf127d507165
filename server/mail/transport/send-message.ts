import type { Readable } from "node:stream";
import type { Outcome } from "../outcome";
import type { Connection } from "./connection";
import { gatedBody } from "./gated-body";
import { type Breakdown, judgeAttempt } from "./judge";
import type { OutgoingMessage } from "./transport";

export type SendWatch = { stillMine(): boolean; signal: AbortSignal };

/** The open connection, and what its server offers. `sizeMax` is 0 without a limit. */
export type Sender = { connection: Connection; host: string; offers: { sizeMax: number; smtpUtf8: boolean } };

/**
 * `isUnheard` says that the connection was gone before the server took any word of this message. `needsReset` says that
 * the connection is usable, but may hold an unfinished transaction.
 */
export type SendResult = { outcomes: Outcome[]; isUnheard: boolean; needsReset: boolean };

/**
 * One message over an open connection: MAIL, RCPT for each distinct recipient, DATA, and the final dot only while
 * `stillMine()`. One outcome per entry of `recipients`, in order. What the server is known not to take (by SIZE, by a
 * missing SMTPUTF8) is rejected without asking it. Never rejects.
 */
export async function sendMessage(
  sender: Sender,
  message: OutgoingMessage,
  recipients: readonly string[],
  watch: SendWatch,
): Promise<SendResult> {
  const refusals = recipients.map((recipient) => refuseAhead(sender, message, recipient));
  const asked = [...new Set(recipients.filter((_, index) => refusals[index] === null))];
  if (asked.length === 0)
    return { outcomes: refusals.filter((outcome) => outcome !== null), isUnheard: false, needsReset: false };

  const { connection, host } = sender;
  const { breakdown, dotReleased } = await talk(connection, message, asked, watch);
  const exchanges = connection.transcript.exchanges();
  const judged = judgeAttempt({ host, exchanges, dotReleased, breakdown }, recipients);
  const outcomes = judged.map((outcome, index) => {
    const refusal = refusals[index] ?? null;
    return refusal ?? { ...outcome, dialogue: connection.transcript.dialogue(outcome.recipient) };
  });

  const last = exchanges.at(-1);
  const isFinished = dotReleased && last?.command === "." && last.reply !== null;
  const isMidBody =
    !dotReleased && exchanges.some(({ command, reply }) => command === "DATA" && /^[23]/.test(reply ?? ""));
  if (isMidBody) connection.break({ reason: "The message was not sent to its end." });
  const opening = exchanges[0]?.reply ?? null;
  return {
    outcomes,
    isUnheard: connection.isBroken() && (opening === null || opening.startsWith("421")),
    needsReset: !(isFinished && last.reply?.startsWith("2")),
  };
}

async function talk(
  connection: Connection,
  message: OutgoingMessage,
  recipients: readonly string[],
  watch: SendWatch,
): Promise<{ breakdown: Breakdown | null; dotReleased: boolean }> {
  const { client, transcript } = connection;
  let dotReleased = false;
  const mayEnd = (): boolean => {
    if (connection.isBroken()) return false;
    if (!isMine(watch)) {
      connection.break({ reason: "The lease was lost before the final dot." });
      return false;
    }
    dotReleased = true;
    transcript.command(".");
    connection.restartClock();
    return true;
  };
  const body = gatedBody(message.bytes, {
    mayEnd,
    socket: () => client._socket || null,
    onProgress: () => connection.restartClock("blockMs"),
  });
  const { returnPath: from, smtpUtf8: use8BitMime } = message;
  const envelope = {
    from,
    to: [...recipients],
    size: message.bytes.length,
    use8BitMime,
    ...reportsWanted(message, recipients),
  };

  transcript.begin();
  const stopWatching = connection.breakOn(watch.signal);
  const answered = new Promise<Breakdown | null>((resolve) => {
    // Of a stream the client uses no more than this.
    client.send(envelope, body as unknown as Readable, (error) => {
      // Without any exchange the client refused by itself, and only its error tells why.
      if (error && transcript.exchanges().length === 0) connection.break({ reason: error.message });
      resolve(null);
    });
  });
  const breakdown = await Promise.race([connection.whenBroken, answered]);
  stopWatching();
  connection.stopClock();
  body.destroy();
  return { breakdown, dotReleased };
}

/**
 * What a server that offers it is asked to report (RFC 3461): failures and delays, with the header alone, under the id of
 * the mail and the address that we wrote to. The client asks only where DSN is offered, and writes what is not allowed there
 * as xtext. An address outside ASCII has a form of its own there (RFC 6533), and is left out.
 */
function reportsWanted(
  { id, wantsReports }: OutgoingMessage,
  recipients: readonly string[],
): { dsn?: Reports } {
  const [recipient, ...others] = recipients;
  if (!wantsReports || recipient === undefined || others.length > 0) return {};
  const orcpt = /^[\x21-\x7e]+$/.test(recipient) ? { orcpt: `rfc822;${recipient}` } : {};
  return { dsn: { envid: id, ret: "HDRS", notify: "FAILURE,DELAY", ...orcpt } };
}

type Reports = { envid: string; ret: "HDRS"; notify: string; orcpt?: string };

/** A watch that fails to answer is a lease nobody can vouch for. */
function isMine(watch: SendWatch): boolean {
  try {
    return watch.stillMine();
  } catch {
    return false;
  }
}

function refuseAhead({ host, offers }: Sender, message: OutgoingMessage, recipient: string): Outcome | null {
  const refuse = (reason: string): Outcome => ({ recipient, kind: "rejected", reply: null, host, reason });
  if (offers.sizeMax > 0 && message.bytes.length > offers.sizeMax)
    return refuse(
      `The message has ${message.bytes.length} bytes, but ${host} takes at most ${offers.sizeMax}.`,
    );
  if (offers.smtpUtf8) return null;
  if (message.smtpUtf8)
    return refuse(`The message names an address that needs SMTPUTF8, which ${host} does not offer.`);
  if (/[^\0-\x7f]/.test(recipient))
    return refuse(`The address needs SMTPUTF8, which ${host} does not offer.`);
  return null;
}
