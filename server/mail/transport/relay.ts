import { createHash } from "node:crypto";
import type { FoundAddresses } from "./guarded-addresses";
import { deferAll, setOutcome } from "./judge";
import { createLoginGate } from "./smtp/login-gate";
import { createPool } from "./smtp/pool";
import { sendPooled } from "./smtp/send-pooled";
import { type OpenFailure, openSession, type Session } from "./smtp/session";
import { RELAY_TIMEOUTS, type RelayTimeouts } from "./smtp/timeouts";
import { formatHostAndPort, type SmtpTarget } from "./smtp-url";
import { addressesOf, createTransport, type Transport, watchAttempt } from "./transport";

export type RelayOptions = {
  /** Our name in EHLO: a host name that resolves to our address. */
  name?: string;
  /** PEM of an additional trusted root certificate. */
  ca?: string;
  timeouts?: Partial<RelayTimeouts>;
  idleMs?: number;
  messagesPerConnection?: number;
  /** Pause after a rejected login. */
  loginPauseMs?: number;
  /** How long the pool stays at its current size after the server rejected a further connection. */
  crowdedMs?: number;
  /** Resolves the host's addresses for each connection; without it the system resolves the host. */
  findAddresses?(signal: AbortSignal): Promise<FoundAddresses>;
};

/** A transport over one SMTP server. */
export type Relay = Transport & {
  /** Identifies user, host and port, but does not contain the user. */
  id: string;
  /** `host:port`. */
  host: string;
  /** Opens a connection as for a message and closes it; null on success. */
  probe(deadlineMs: number): Promise<OpenFailure | null>;
  /** Creates another client of the same server. It shares no connection and no memory of a rejected login. */
  clone(): Relay;
};

/** Whether a transport is a single SMTP server: that of `SMTP_URL`. */
export const isRelay = (transport: Transport | Relay | null): transport is Relay =>
  transport !== null && "probe" in transport;

const IDLE_MS = 30_000;
const MESSAGES_PER_CONNECTION = 100;
const LOGIN_PAUSE_MS = 60_000;
const CROWDED_MS = 60_000;

const UNVERIFIED =
  "The sending domain requires verified TLS, and this relay is used without TLS or with any certificate. Require a valid certificate in the settings of the relay.";

/**
 * Sends messages to one SMTP server over a pool of connections. `deliver` waits for a free connection. All
 * recipients of a call share one transaction, and each gets the outcome of its own replies. If TLS is
 * optional and its setup fails, the relay connects again without TLS. While the server rejects our login,
 * emails are deferred with an alarm, and the login is retried once per pause.
 */
export function createRelay(target: SmtpTarget, options: RelayOptions = {}): Relay {
  const { host } = target;
  const gate = createLoginGate(options.loginPauseMs ?? LOGIN_PAUSE_MS);
  const timeouts = { ...RELAY_TIMEOUTS, ...options.timeouts };
  const isVerified = target.tls !== "opportunistic" && target.verify;
  const verifiedBy = isVerified ? "its certificate" : undefined;
  const connectionOptions = { name: options.name, ca: options.ca, timeouts, verifiedBy };

  const pool = createPool({
    connectionsMax: target.connectionsMax,
    idleMs: options.idleMs ?? IDLE_MS,
    messagesMax: options.messagesPerConnection ?? MESSAGES_PER_CONNECTION,
    crowdedMs: options.crowdedMs ?? CROWDED_MS,
    open,
  });

  async function open(signal: AbortSignal): Promise<{ session: Session } | { failure: OpenFailure }> {
    const rejection = gate.rejection();
    if (rejection !== null) return { failure: rejection };
    if (!options.findAddresses) return openSession(target, connectionOptions, gate, signal);
    const found = await options.findAddresses(signal);
    if ("reason" in found) return { failure: { alarm: "connect", reason: found.reason } };
    let failure: OpenFailure = { alarm: "connect", reason: `${host} has no address.` };
    for (const address of found.addresses) {
      const opened = await openSession(target, { ...connectionOptions, address }, gate, signal);
      // A reply from any address is final for the server. Only an address without a reply is skipped.
      if ("session" in opened || opened.failure.dialogue || signal.aborted) return opened;
      failure = opened.failure;
    }
    return { failure };
  }

  const transport = createTransport(
    "relay",
    host,
    async (message, recipients, watch) => {
      const addresses = addressesOf(recipients);
      if (message.tls === "verified" && !isVerified)
        return setOutcome(addresses, { kind: "deferred", host, class: "tls", reason: UNVERIFIED });
      const sent = await sendPooled(pool, message, addresses, watch);
      return "failure" in sent ? deferAll(addresses, host, sent.failure) : sent.outcomes;
    },
    () => {
      gate.close();
      pool.close();
    },
  );
  const place = formatHostAndPort(target);
  return {
    ...transport,
    id: createHash("sha256")
      .update(`${target.login?.user ?? ""} ${place}`)
      .digest("hex"),
    host: place,
    clone: () => createRelay(target, options),
    async probe(deadlineMs) {
      const { signal, end } = watchAttempt({ deadlineMs, isLeaseValid: () => true });
      const opened = await open(signal);
      end();
      if ("failure" in opened) return opened.failure;
      opened.session.quit();
      return null;
    },
  };
}
