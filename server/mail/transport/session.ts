import { type Outcome, readReply } from "../outcome";
import { type Connection, type ConnectionOptions, wrapConnection } from "./connection";
import { dial } from "./dial";
import type { Breakdown } from "./judge";
import type { LoginGate, LoginResult } from "./login-gate";
import { type SendWatch, sendMessage } from "./send-message";
import type { SmtpTarget } from "./smtp-url";
import type { OutgoingMessage } from "./transport";

/** A connection that has said hello, is encrypted and logged in as the target demands, and takes messages. */
export type Session = {
  /** Messages tried so far. */
  messages(): number;
  isOpen(): boolean;
  send(message: OutgoingMessage, recipients: readonly string[], watch: SendWatch): Promise<SessionResult>;
  /** Makes the session ready for another message, or closes it. */
  tidy(): Promise<void>;
  /** Says goodbye; the connection ends soon after. */
  quit(): void;
  onClose(listener: () => void): void;
};

/**
 * `isStale` says that the connection turned out to be closed before the server took any word of this message, so that a
 * fresh connection may try it within the same attempt.
 */
export type SessionResult = { outcomes: Outcome[]; isStale: boolean };

export type OpenFailure = Breakdown & {
  /** TLS could not be set up, so a target that also takes clear text may be tried without it. */
  isTlsFault: boolean;
  /** The server may have too many connections of ours already. */
  isCrowded: boolean;
  dialogue: string;
};

/** How long a server may take to answer our goodbye. */
const QUIT_MS = 5_000;

/**
 * Opens a session, or says why there is none. Never rejects. Where TLS is optional and its setup fails, the connection
 * is made again in clear.
 */
export async function openSession(
  target: SmtpTarget,
  options: ConnectionOptions,
  gate: LoginGate,
  signal: AbortSignal,
): Promise<{ session: Session } | { failure: OpenFailure }> {
  const opened = await openOnce(target, options, gate, signal, false);
  if ("session" in opened || !opened.failure.isTlsFault || target.tls !== "opportunistic") return opened;
  return openOnce(target, options, gate, signal, true);
}

/** `isClear` leaves STARTTLS unused. */
async function openOnce(
  target: SmtpTarget,
  options: ConnectionOptions,
  gate: LoginGate,
  signal: AbortSignal,
  isClear: boolean,
): Promise<{ session: Session } | { failure: OpenFailure }> {
  const { host } = target;
  let connection: Connection;
  try {
    const socket = await dial(options.address ?? host, target.port, options.timeouts.connectMs, signal);
    connection = wrapConnection(socket, target, options, isClear);
  } catch (error) {
    const said = error instanceof Error ? error.message || String(Reflect.get(error, "code")) : String(error);
    const failure: Breakdown = signal.aborted
      ? { reason: said }
      : { reason: `No connection to ${host} port ${target.port}: ${said}.`, alarm: "connect" };
    return { failure: { ...failure, isTlsFault: false, isCrowded: !signal.aborted, dialogue: "" } };
  }
  const stopWatching = connection.breakOn(signal);
  const breakdown = (await greet(connection)) ?? (await login(connection, target, gate));
  stopWatching();
  if (breakdown === null) {
    connection.stopClock();
    return { session: createSession(connection, target) };
  }
  connection.break(breakdown);
  return { failure: explainOpening(connection, breakdown, host) };
}

/** Greeting, EHLO and STARTTLS, all of which the client does by itself. */
function greet(connection: Connection): Promise<Breakdown | null> {
  const connected = new Promise<Breakdown | null>((resolve) => {
    connection.client.connect((error) => resolve(error ? { reason: error.message } : null));
  });
  return Promise.race([connection.whenBroken, connected]);
}

function login(connection: Connection, target: SmtpTarget, gate: LoginGate): Promise<Breakdown | null> {
  const { host, login: credentials } = target;
  if (credentials === null) return Promise.resolve(null);
  if (!connection.client.allowsAuth) {
    const reason = `${host} offers no login, but one is configured.`;
    return Promise.resolve({ alarm: "auth", reason });
  }
  const passed = gate.pass((): Promise<LoginResult> => {
    const broken = connection.whenBroken.then((breakdown) => ({ breakdown, isRefusal: false }));
    if (connection.isBroken()) return broken;
    connection.restartClock();
    const answered = new Promise<LoginResult>((resolve) => {
      connection.client.login({ ...credentials }, (error) => {
        if (!error) return resolve(null);
        const reply = error.response === undefined ? {} : { reply: readReply(error.response) };
        const reason = `${host} refuses our login: ${error.response ?? error.message}`;
        resolve({ breakdown: { alarm: "auth", reason, ...reply }, isRefusal: true });
      });
    });
    return Promise.race([answered, broken]);
  });
  return Promise.race([passed, connection.whenBroken]);
}

function explainOpening(connection: Connection, breakdown: Breakdown, host: string): OpenFailure {
  const last = connection.transcript.exchanges().at(-1)?.reply ?? null;
  const reply = last === null ? null : readReply(last);
  const dialogue = connection.transcript.dialogue("");
  const isTlsFault = breakdown.alarm === "tls";
  if (breakdown.alarm !== undefined) return { ...breakdown, isTlsFault, isCrowded: false, dialogue };
  if (reply?.code == null || reply.code < 400)
    return { ...breakdown, alarm: "connect", isTlsFault, isCrowded: false, dialogue };
  const reason = `${host} does not take our connection: ${reply.code} ${reply.text}`;
  return { reason, reply, alarm: "connect", isTlsFault, isCrowded: reply.code === 421, dialogue };
}

function createSession(connection: Connection, target: SmtpTarget): Session {
  const ehlo = connection.transcript.exchanges().findLast(({ command }) => command.startsWith("EHLO "));
  const offers = readOffers(ehlo?.reply ?? "");
  let messages = 0;
  let hasQuit = false;
  let needsReset = false;
  const isOpen = () => !hasQuit && !connection.isBroken();
  const quit = () => {
    if (!isOpen()) return;
    hasQuit = true;
    connection.client.quit();
    const timer = setTimeout(() => connection.break({ reason: "We closed the connection." }), QUIT_MS);
    connection.onClose(() => clearTimeout(timer));
  };
  return {
    messages: () => messages,
    isOpen,
    quit,
    onClose: connection.onClose,
    async send(message, recipients, watch) {
      messages += 1;
      needsReset = true;
      const {
        needsReset: unclean,
        isUnheard,
        outcomes,
      } = await sendMessage({ connection, host: target.host, offers }, message, recipients, watch);
      needsReset = unclean;
      return { outcomes, isStale: isUnheard && messages > 1 && !watch.signal.aborted };
    },
    async tidy() {
      if (!needsReset || !isOpen()) return;
      needsReset = false;
      connection.restartClock("commandMs");
      const answered = new Promise<boolean>((resolve) => connection.client.reset((error) => resolve(!error)));
      const isClean = await Promise.race([answered, connection.whenBroken.then(() => true)]);
      connection.stopClock();
      if (!isClean) quit();
    },
  };
}

/** What of the server's EHLO answer concerns us. `sizeMax` is 0 without a limit (RFC 1870). */
function readOffers(ehlo: string): { sizeMax: number; smtpUtf8: boolean } {
  const size = /^250[ -]SIZE +([0-9]{1,15})/im.exec(ehlo)?.[1];
  return { sizeMax: Number(size ?? 0), smtpUtf8: /^250[ -]SMTPUTF8\b/im.test(ehlo) };
}
