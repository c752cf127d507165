import type { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { rootCertificates, TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { describeConnectionError } from "../describe-connection-error";
import type { Breakdown } from "../judge";
import type { SmtpTarget } from "../smtp-url";
import type { RelayTimeouts } from "./timeouts";
import { createTranscript, type Transcript } from "./transcript";

/** Largest reply read from a server; a longer one ends the connection. */
export const REPLY_BYTES_MAX = 65_536;
/** The client library's own timers must never fire before ours. */
const NEVER_MS = 2_000_000_000;

const CANCELED = "The attempt was canceled.";

export type ConnectionOptions = {
  /** Name for EHLO; undefined uses the library's default. */
  name: string | undefined;
  /** PEM of an additional trusted root certificate. */
  ca: string | undefined;
  timeouts: RelayTimeouts;
  /** Address to connect to; without it the system resolves the host. */
  address?: string;
  /** Whether the server's TLSA records (DANE) name its certificate. */
  isNamed?(certificate: X509Certificate): boolean;
  /** What proves the server, for people: "DANE". Undefined if nothing does. */
  verifiedBy?: string;
};

export type Connection = ReturnType<typeof wrapConnection>;

/**
 * One SMTP connection over a connected socket, with our own timeouts and our own transcript. nodemailer's
 * client performs greeting, EHLO, STARTTLS and AUTH, which starts with `client.connect()`. After this setup
 * our dialogue takes its socket.
 */
export function wrapConnection(
  socket: Socket,
  target: SmtpTarget,
  options: ConnectionOptions,
  skipsTls: boolean,
) {
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
    ignoreTLS: skipsTls,
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
    restartTimeout();
  }

  /** Restarts the timeout of a step; the default step is that of the pending command. */
  function restartTimeout(step: keyof RelayTimeouts = stepOf(transcript.awaiting())): void {
    clearTimeout(timer);
    if (broken !== null) return;
    const timeoutMs = options.timeouts[step];
    timer = setTimeout(() => {
      breakOff({
        reason: `${target.host} did not respond ${describeStep(step, transcript)} within ${timeoutMs / 1000} s.`,
      });
    }, timeoutMs);
  }

  /** Closes the connection at once and discards unsent bytes. */
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
  restartTimeout("commandMs");

  return {
    client,
    transcript,
    /** Resolves with the reason as soon as the connection is unusable, and never rejects. */
    whenBroken,
    isBroken: (): boolean => broken !== null,
    /** Why the connection broke; null while it is usable. */
    breakdown: (): Breakdown | null => broken,
    /** How the connection is encrypted, and what proves its server: "over TLS 1.3, verified by DANE". */
    describeSecurity(): string {
      const protocol = client._socket instanceof TLSSocket ? client._socket.getProtocol() : null;
      if (!protocol) return "without TLS";
      const proof = options.verifiedBy ? `verified by ${options.verifiedBy}` : "not verified";
      return `over ${protocol.replace("v", " ")}, ${proof}`;
    },
    /** Null if the server's TLSA records name its certificate, or none apply. */
    checkDane(): Breakdown | null {
      if (!options.isNamed) return null;
      const certificate =
        client._socket instanceof TLSSocket ? client._socket.getPeerX509Certificate() : undefined;
      try {
        if (certificate && options.isNamed(certificate)) return null;
      } catch {
        // A key of a type that Node does not support matches no record.
      }
      const reason = `The certificate of ${target.host} matches none of its TLSA records.`;
      return { alarm: "tls", reason };
    },
    /** Takes the socket, which has TLS if it was negotiated, from the client library after the setup. */
    takeSocket(): Socket {
      const taken = client._socket || socket;
      // These listeners are private: if a name changes, no connection can be opened, and the tests fail.
      for (const name of ["Data", "End", "Close", "Error", "Timeout"])
        taken.removeListener(name.toLowerCase(), Reflect.get(client, `_onSocket${name}`));
      taken.setTimeout(0);
      if (Reflect.get(client, "_remainder") !== "")
        breakOff({ reason: `${target.host} violated the SMTP protocol with data that no command awaits.` });
      return taken;
    },
    break: breakOff,
    /**
     * Breaks the connection on abort, with the signal's reason. Returns a function that removes the listener.
     */
    breakOn(signal: AbortSignal): () => void {
      const onAbort = () =>
        breakOff({ reason: signal.reason instanceof Error ? signal.reason.message : CANCELED });
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      return () => signal.removeEventListener("abort", onAbort);
    },
    restartTimeout,
    stopTimeout: () => clearTimeout(timer),
    onClose: (listener: () => void): unknown => closeListeners.push(listener),
  };
}

function ignore(): void {}

function stepOf(command: string | null): keyof RelayTimeouts {
  if (command === "DATA") return "dataMs";
  return command === "." ? "finalMs" : "commandMs";
}

function describeStep(step: keyof RelayTimeouts, transcript: Transcript): string {
  if (step === "finalMs") return "to the final dot";
  if (step === "blockMs") return "during the message transfer";
  const verb = /^[A-Z]+/.exec(transcript.awaiting() ?? "")?.[0];
  return verb === undefined ? "with a greeting" : `to ${verb}`;
}

/** Whether the connection failed during TLS setup, which is a TLS fault and not a network fault. */
function isSecuring(client: SMTPConnection, transcript: Transcript): boolean {
  return client.upgrading === true || transcript.exchanges().at(-1)?.command === "STARTTLS";
}

function explainError(
  error: Error & { code?: string; response?: string },
  target: SmtpTarget,
  wasSecuring: boolean,
): Breakdown {
  const { host } = target;
  const fault = error.response ?? describeConnectionError(error);
  if (error.code === "ETLS" || wasSecuring)
    return { alarm: "tls", reason: `Could not connect to ${host} over TLS: ${fault}` };
  if (error.code === "EPROTOCOL") return { reason: `${host} violated the SMTP protocol: ${fault}` };
  return { reason: `The connection to ${host} was lost: ${fault}` };
}
