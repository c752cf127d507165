import { parseSmtpReply } from "../../outcome";
import { describeConnectionError } from "../describe-connection-error";
import type { Breakdown } from "../judge";
import type { SmtpTarget } from "../smtp-url";
import type { OutgoingMessage, SendWatch } from "../transport";
import { type Connection, type ConnectionOptions, wrapConnection } from "./connection";
import { dial } from "./dial";
import { startDialogue } from "./dialogue";
import { parseOffers } from "./envelope";
import type { LoginGate, LoginResult } from "./login-gate";
import { sendMessage } from "./send-message";

export type Session = ReturnType<typeof createSession>;

export type OpenFailure = Breakdown & {
  /** The server may have reached its limit of connections from us. */
  isCrowded?: boolean;
};

/** Time limit for the reply to QUIT. */
const QUIT_MS = 5_000;

/**
 * Opens a session, or returns why it failed. Never rejects. If TLS is optional and its setup fails, it
 * connects again without TLS.
 */
export async function openSession(
  target: SmtpTarget,
  options: ConnectionOptions,
  gate: LoginGate,
  signal: AbortSignal,
): Promise<{ session: Session } | { failure: OpenFailure }> {
  const opened = await openOnce(target, options, gate, signal, false);
  if ("session" in opened || opened.failure.alarm !== "tls" || target.tls !== "opportunistic") return opened;
  return openOnce(target, options, gate, signal, true);
}

/** With `skipsTls` it does not use STARTTLS. */
async function openOnce(
  target: SmtpTarget,
  options: ConnectionOptions,
  gate: LoginGate,
  signal: AbortSignal,
  skipsTls: boolean,
): Promise<{ session: Session } | { failure: OpenFailure }> {
  const { host } = target;
  let connection: Connection;
  try {
    const socket = await dial(options.address ?? host, target.port, options.timeouts.connectMs, signal);
    connection = wrapConnection(socket, target, options, skipsTls);
  } catch (error) {
    const fault = describeConnectionError(error);
    if (signal.aborted) return { failure: { reason: fault } };
    const reason = `Could not connect to ${host} port ${target.port}: ${fault}.`;
    return { failure: { reason, alarm: "connect", isCrowded: true } };
  }
  const stopWatching = connection.breakOn(signal);
  const breakdown =
    (await greet(connection)) ?? connection.checkDane() ?? (await login(connection, target, gate));
  stopWatching();
  if (breakdown === null) {
    connection.stopTimeout();
    return { session: createSession(connection, target) };
  }
  connection.break(breakdown);
  return { failure: explainOpening(connection, breakdown, host) };
}

/** Greeting, EHLO and STARTTLS: the client library performs all three. */
function greet(connection: Connection): Promise<Breakdown | null> {
  const connected = new Promise<Breakdown | null>((resolve) => {
    connection.client.connect((error) => resolve(error ? { reason: describeConnectionError(error) } : null));
  });
  return Promise.race([connection.whenBroken, connected]);
}

function login(connection: Connection, target: SmtpTarget, gate: LoginGate): Promise<Breakdown | null> {
  const { host, login: credentials } = target;
  if (credentials === null) return Promise.resolve(null);
  if (!connection.client.allowsAuth) {
    const reason = `${host} does not support logins, but a login is configured.`;
    return Promise.resolve({ alarm: "auth", reason });
  }
  const finished = gate.run((): Promise<LoginResult> => {
    const broken = connection.whenBroken.then((breakdown) => ({ breakdown, isRejection: false }));
    if (connection.isBroken()) return broken;
    connection.restartTimeout();
    const answered = new Promise<LoginResult>((resolve) => {
      connection.client.login({ ...credentials }, (error) => {
        if (!error) return resolve(null);
        const reply = error.response === undefined ? {} : { reply: parseSmtpReply(error.response) };
        const reason = `${host} rejected our login: ${error.response ?? describeConnectionError(error)}`;
        resolve({ breakdown: { alarm: "auth", reason, ...reply }, isRejection: true });
      });
    });
    return Promise.race([answered, broken]);
  });
  return Promise.race([finished, connection.whenBroken]);
}

function explainOpening(connection: Connection, breakdown: Breakdown, host: string): OpenFailure {
  const last = connection.transcript.exchanges().at(-1)?.reply ?? null;
  const reply = last === null ? null : parseSmtpReply(last);
  const dialogue = connection.transcript.dialogue("");
  if (breakdown.alarm !== undefined) return { ...breakdown, dialogue };
  if (reply?.code == null || reply.code < 400) return { ...breakdown, alarm: "connect", dialogue };
  const reason = `${host} rejected our connection: ${reply.code} ${reply.text}`;
  return { reason, reply, alarm: "connect", isCrowded: reply.code === 421, dialogue };
}

/** A connection that is greeted, encrypted and logged in as the target requires, and ready for messages. */
function createSession(connection: Connection, target: SmtpTarget) {
  const ehlo = connection.transcript.exchanges().findLast(({ command }) => command.startsWith("EHLO "));
  const offers = parseOffers(ehlo?.reply ?? "");
  const security = connection.describeSecurity();
  const dialogue = startDialogue(connection, target.host);
  let messages = 0;
  let hasQuit = false;
  let needsReset = false;
  const isOpen = () => !hasQuit && !connection.isBroken();
  const quit = () => {
    if (!isOpen()) return;
    hasQuit = true;
    const end = () => connection.break({ reason: "We closed the connection." });
    dialogue.exchange(["QUIT"]).then(end);
    const timer = setTimeout(end, QUIT_MS);
    connection.onClose(() => clearTimeout(timer));
  };
  return {
    /** Number of messages attempted. */
    messages: () => messages,
    isOpen,
    /** Sends QUIT; the connection then closes within 5 seconds. */
    quit,
    onClose: connection.onClose,
    /**
     * `isStale`: the connection was closed before the server processed any command of this message. A new
     * connection may then send it within the same attempt.
     */
    async send(message: OutgoingMessage, recipients: readonly string[], watch: SendWatch) {
      messages += 1;
      needsReset = true;
      const sender = { connection, dialogue, host: target.host, offers };
      const result = await sendMessage(sender, message, recipients, watch);
      needsReset = result.needsReset;
      const isStale = result.isUnprocessed && messages > 1 && !watch.signal.aborted;
      const outcomes = result.outcomes.map((outcome) =>
        outcome.kind === "accepted"
          ? { ...outcome, reason: `${target.host} accepted the email ${security}.` }
          : outcome,
      );
      return { outcomes, isStale };
    },
    /** Prepares the session for the next message, or closes it. */
    async reset(): Promise<void> {
      if (!needsReset || !isOpen()) return;
      needsReset = false;
      await dialogue.exchange(["RSET"]);
      const isClean = connection.transcript.exchanges().at(-1)?.reply?.startsWith("2");
      if (!isClean) quit();
    },
  };
}
