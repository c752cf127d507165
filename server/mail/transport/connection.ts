import type { Socket } from "node:net";
import { rootCertificates } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Breakdown } from "./judge";
import type { SmtpTarget } from "./smtp-url";
import type { RelayTimeouts } from "./timeouts";
import { createTranscript, type Transcript } from "./transcript";

/** Largest reply read from a server; a longer one ends the connection. */
const REPLY_BYTES_MAX = 65_536;
/** The library's own timers must never fire before ours. */
const NEVER_MS = 2_000_000_000;

const CUT_SHORT = "The attempt was cut short.";

export type ConnectionOptions = {
  /** Name for EHLO; without one the library's default. */
  name: string | undefined;
  /** PEM of a root to trust besides the usual ones. */
  ca: string | undefined;
  timeouts: RelayTimeouts;
  /** Where to connect to, instead of asking the system for the host's addresses. */
  address?: string;
};

/**
 * One SMTP connection: nodemailer's client with our own clock and our own record of what was said. `break` ends it at
 * once; nothing that is not yet on the wire leaves any more. `whenBroken` resolves as soon as the connection is
 * unusable, with the reason, and never rejects.
 */
export type Connection = {
  client: SMTPConnection;
  transcript: Transcript;
  whenBroken: Promise<Breakdown>;
  isBroken(): boolean;
  break(breakdown: Breakdown): void;
  /** Breaks the connection when the signal comes, with the signal's reason; gives the way to stop that. */
  breakOn(signal: AbortSignal): () => void;
  /** Starts the clock of a step anew; without argument the step is told by the command awaited. */
  restartClock(step?: keyof RelayTimeouts): void;
  stopClock(): void;
  onClose(listener: () => void): void;
};

/** Wraps a connected socket. The dialogue begins with `client.connect()`. */
export function wrapConnection(
  socket: Socket,
  target: SmtpTarget,
  options: ConnectionOptions,
  isClear: boolean,
): Connection {
  const transcript = createTranscript();
  const closeListeners: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let broken: Breakdown | null = null;
  let resolveBroken: (breakdown: Breakdown) => void = () => {};
  const whenBroken = new Promise<Breakdown>((resolve) => {
    resolveBroken = resolve;
  });

  const client = new SMTPConnection({
    connection: socket,
    host: target.host,
    port: target.port,
    secure: target.tls === "implicit",
    requireTLS: target.tls === "required",
    ignoreTLS: isClear,
    opportunisticTLS: target.tls === "opportunistic",
    name: options.name,
    connectionTimeout: NEVER_MS,
    greetingTimeout: NEVER_MS,
    socketTimeout: NEVER_MS,
    socketCloseTimeout: 0,
    maxResponseSize: REPLY_BYTES_MAX,
    tls: {
      rejectUnauthorized: target.verify,
      ca: options.ca === undefined ? undefined : [...rootCertificates, options.ca],
    },
    transactionLog: true,
    logger: { debug: record, info: record, warn: ignore, error: ignore, trace: ignore, fatal: ignore },
  });

  function record(entry: { tnx?: string }, text?: unknown): void {
    if (entry.tnx === "client") transcript.command(String(text ?? ""));
    else if (entry.tnx === "server") transcript.reply(String(text ?? ""));
    else return;
    restartClock();
  }

  function restartClock(step: keyof RelayTimeouts = stepOf(transcript.awaiting())): void {
    clearTimeout(timer);
    if (broken !== null) return;
    const timeoutMs = options.timeouts[step];
    timer = setTimeout(() => {
      breakOff({
        reason: `${target.host} did not answer ${sayStep(step, transcript)} within ${timeoutMs / 1000} s.`,
      });
    }, timeoutMs);
  }

  function breakOff(breakdown: Breakdown): void {
    if (broken !== null) return;
    broken = breakdown;
    clearTimeout(timer);
    client.close();
    socket.destroy();
    resolveBroken(breakdown);
    for (const listener of closeListeners) listener();
  }

  client.on("error", (error: Error & { code?: string; response?: string }) => {
    breakOff(explainError(error, target, isSecuring(client, transcript)));
  });
  client.on("end", () => breakOff({ reason: `${target.host} closed the connection.` }));
  restartClock("commandMs");

  return {
    client,
    transcript,
    whenBroken,
    isBroken: () => broken !== null,
    break: breakOff,
    breakOn(signal) {
      const onAbort = () =>
        breakOff({ reason: signal.reason instanceof Error ? signal.reason.message : CUT_SHORT });
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      return () => signal.removeEventListener("abort", onAbort);
    },
    restartClock,
    stopClock: () => clearTimeout(timer),
    onClose: (listener) => closeListeners.push(listener),
  };
}

function ignore(): void {}

function stepOf(command: string | null): keyof RelayTimeouts {
  if (command === "DATA") return "dataMs";
  return command === "." ? "finalMs" : "commandMs";
}

function sayStep(step: keyof RelayTimeouts, transcript: Transcript): string {
  if (step === "finalMs") return "the final dot";
  if (step === "blockMs") return "while taking the message";
  const verb = /^[A-Z]+/.exec(transcript.awaiting() ?? "")?.[0];
  return verb === undefined ? "with its greeting" : verb;
}

/** Whether the connection broke while TLS was being set up: a fault of the encryption, not of the network. */
function isSecuring(client: SMTPConnection, transcript: Transcript): boolean {
  return client.upgrading === true || transcript.exchanges().at(-1)?.command === "STARTTLS";
}

function explainError(
  error: Error & { code?: string; response?: string },
  target: SmtpTarget,
  wasSecuring: boolean,
): Breakdown {
  const { host } = target;
  const said = error.response ?? error.message;
  if (error.code === "ETLS" || wasSecuring)
    return { alarm: "tls", reason: `${host} could not be reached over TLS: ${said}` };
  if (error.code === "EPROTOCOL") return { reason: `${host} does not speak SMTP properly: ${said}` };
  return { reason: `The connection to ${host} was lost: ${said}` };
}
