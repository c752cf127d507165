import type { Outcome } from "../outcome";
import type { FoundAddresses } from "./guarded-addresses";
import { type Breakdown, deferAll, deferUnsent } from "./judge";
import { createLoginGate } from "./login-gate";
import { createPool } from "./pool";
import type { SendWatch } from "./send-message";
import { sendPooled } from "./send-pooled";
import { type OpenFailure, openSession, type Session } from "./session";
import type { SmtpTarget } from "./smtp-url";
import { RELAY_TIMEOUTS, type RelayTimeouts } from "./timeouts";
import type { DeliveryWatch, OutgoingMessage, Transport } from "./transport";
import { watchAttempt } from "./watch-attempt";

export type RelayOptions = {
  /** Our name in EHLO: a host name that resolves to us. */
  name?: string;
  /** PEM of a root to trust besides the usual ones. */
  ca?: string;
  timeouts?: Partial<RelayTimeouts>;
  idleMs?: number;
  messagesPerConnection?: number;
  /** Pause after a refused login. */
  loginPauseMs?: number;
  /** How long a server that takes fewer connections than the pool has is asked for no more. */
  crowdedMs?: number;
  /** Where to connect to, asked for each connection, instead of what the system says of the host. */
  findAddresses?(signal: AbortSignal): Promise<FoundAddresses>;
};

/** A way to one server. `probe` opens a connection, as for a message, and says goodbye; null where that went well. */
export type Relay = Transport & { probe(deadlineMs: number): Promise<OpenFailure | null> };

const IDLE_MS = 30_000;
const MESSAGES_PER_CONNECTION = 100;
const LOGIN_PAUSE_MS = 60_000;
const CROWDED_MS = 60_000;

/**
 * Hands messages to one SMTP server over a pool of connections. A `deliver` waits for a free connection, all recipients
 * of the call share one transaction, and each gets the outcome of its own replies. Where TLS is optional and its setup
 * fails, the connection is made again in clear. While the server refuses our login, mail is deferred with the alarm
 * and the login is tried once per pause.
 */
export function createRelay(target: SmtpTarget, options: RelayOptions = {}): Relay {
  const { host } = target;
  const gate = createLoginGate(options.loginPauseMs ?? LOGIN_PAUSE_MS);
  const timeouts = { ...RELAY_TIMEOUTS, ...options.timeouts };
  const connectionOptions = { name: options.name, ca: options.ca, timeouts };
  const running = new Set<Promise<unknown>>();
  let isClosed = false;

  const pool = createPool({
    connectionsMax: target.connectionsMax,
    idleMs: options.idleMs ?? IDLE_MS,
    messagesMax: options.messagesPerConnection ?? MESSAGES_PER_CONNECTION,
    crowdedMs: options.crowdedMs ?? CROWDED_MS,
    open,
  });

  async function open(signal: AbortSignal): Promise<{ session: Session } | { failure: OpenFailure }> {
    const refusal = gate.refusal();
    if (refusal !== null) return { failure: unsaid(refusal) };
    if (!options.findAddresses) return openSession(target, connectionOptions, gate, signal);
    const found = await options.findAddresses(signal);
    if ("reason" in found) return { failure: unsaid({ alarm: "connect", reason: found.reason }) };
    let failure = unsaid({ alarm: "connect", reason: `${host} has no address.` });
    for (const address of found.addresses) {
      const opened = await openSession(target, { ...connectionOptions, address }, gate, signal);
      // Whoever said a word is the server, and its word counts; only a silent address is passed over.
      if ("session" in opened || opened.failure.dialogue !== "" || signal.aborted) return opened;
      failure = opened.failure;
    }
    return { failure };
  }

  async function attempt(
    message: OutgoingMessage,
    recipients: readonly string[],
    watch: SendWatch,
  ): Promise<Outcome[]> {
    const sent = await sendPooled(pool, message, recipients, watch);
    return "failure" in sent ? deferUnsent(recipients, host, sent.failure) : sent.outcomes;
  }

  async function deliver(
    message: OutgoingMessage,
    recipients: string[],
    watch: DeliveryWatch,
  ): Promise<Outcome[]> {
    if (isClosed) return deferAll(recipients, host, { reason: "The transport is shutting down." });
    const { signal, end } = watchAttempt(watch);
    const work = attempt(message, recipients, { stillMine: () => watch.stillMine(), signal });
    running.add(work);
    try {
      return await work;
    } catch (error) {
      // A fault of our own must not take the worker along; nothing is known about the message, so nothing is claimed.
      const reason = `The delivery failed inside Posthorn: ${error instanceof Error ? error.message : String(error)}`;
      return recipients.map((recipient) => ({ recipient, kind: "unknown", reply: null, host, reason }));
    } finally {
      end();
      running.delete(work);
    }
  }

  return {
    name: "relay",
    deliver,
    async probe(deadlineMs) {
      const { signal, end } = watchAttempt({ deadlineMs, stillMine: () => true });
      const opened = await open(signal);
      end();
      if ("failure" in opened) return opened.failure;
      opened.session.quit();
      return null;
    },
    async close() {
      isClosed = true;
      gate.close();
      pool.close();
      await Promise.allSettled(running);
    },
  };
}

const unsaid = (breakdown: Breakdown): OpenFailure => ({
  ...breakdown,
  isTlsFault: false,
  isCrowded: false,
  dialogue: "",
});
