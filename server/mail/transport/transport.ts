import { setMaxListeners } from "node:events";
import type { Mailbox } from "../address/address";
import type { Outcome } from "../outcome";
import { deferAll, setOutcome } from "./judge";

/**
 * opportunistic: TLS if the server supports it. enforced: only over TLS, with any certificate. verified: only
 * over TLS to a server that DANE, an enforced MTA-STS policy or a valid certificate proves.
 */
export type TlsRequirement = "opportunistic" | "enforced" | "verified";

/**
 * A message ready to send. `bytes` are complete, use CRLF only, and are the same on every attempt.
 * `returnPath` is the envelope sender, "" for the null sender. `smtpUtf8`: the header contains other
 * characters than ASCII. `tls`: what its sending domain requires of connections. The first `signatureBytes`
 * are our DKIM-Signature fields; the rest is the unsigned message. `messageId` has no angle brackets.
 * `wantsReports`: Backstamp reads the return path, which belongs to one recipient. `sevenBit`: `bytes` have
 * 8-bit content, and this is the same message, with its own signature, for servers without 8BITMIME.
 */
export type OutgoingMessage = {
  id: string;
  returnPath: string;
  bytes: Uint8Array;
  smtpUtf8: boolean;
  tls?: TlsRequirement;
  signatureBytes?: number;
  messageId?: string;
  wantsReports?: boolean;
  sevenBit?: { bytes: Uint8Array; signatureBytes?: number };
};

/** A recipient as it was parsed when the email was accepted. */
export type Recipient = Pick<Mailbox, "address" | "domain">;

export const addressesOf = (recipients: readonly Recipient[]): string[] =>
  recipients.map(({ address }) => address);

/** The conditions under which an attempt may continue. */
export type DeliveryWatch = {
  /** Time limit of the whole attempt, including the wait for a connection. */
  deadlineMs: number;
  /** Whether the lease is still valid. Checked right before the final dot; false prevents the delivery. */
  isLeaseValid(): boolean;
  /** The `traceparent` of the attempt; absent while traces are off. */
  traceparent?: string;
  /** Ends the attempt at once: deferred if the message was certainly not accepted, else unknown. */
  signal?: AbortSignal;
};

/** The same while an attempt runs; the signal includes the deadline. */
export type SendWatch = { isLeaseValid(): boolean; signal: AbortSignal };

/**
 * A transport for outgoing email. `deliver` returns exactly one outcome per entry of `recipients`, in the
 * same order, and never throws: every failure is an outcome. `close` ends idle connections and waits for
 * running deliveries.
 */
export type Transport = {
  name: "relay" | "capture" | "direct";
  deliver(
    message: OutgoingMessage,
    recipients: readonly Recipient[],
    watch: DeliveryWatch,
  ): Promise<Outcome[]>;
  /**
   * The destination of a domain (`nameDestination`), by its MX hosts, and the address that email is sent
   * from. Only of direct delivery. Rejects if DNS gives no answer.
   */
  findDestination?(
    domain: string,
    own: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<{ name: string; source: string }>;
  close(): Promise<void>;
};

/**
 * A transport whose attempts may throw: their outcomes are then unknown, because an internal error must not
 * stop the worker.
 */
export function createTransport(
  name: Transport["name"],
  host: string | null,
  attempt: (
    message: OutgoingMessage,
    recipients: readonly Recipient[],
    watch: SendWatch,
  ) => Promise<Outcome[]>,
  closeConnections: () => void,
): Transport {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    name,
    async deliver(message, recipients, watch) {
      const addresses = addressesOf(recipients);
      if (isClosed) return deferAll(addresses, host, { reason: "The transport is shutting down." });
      const { signal, end } = watchAttempt(watch);
      const work = attempt(message, recipients, { isLeaseValid: () => watch.isLeaseValid(), signal });
      running.add(work);
      try {
        return await work;
      } catch (cause) {
        const reason =
          "The delivery failed because of an internal error. The operator's log contains the cause.";
        return setOutcome(addresses, { kind: "unknown", host, reason, cause });
      } finally {
        end();
        running.delete(work);
      }
    },
    async close() {
      isClosed = true;
      closeConnections();
      await Promise.allSettled(running);
    },
  };
}

/**
 * Combines the deadline and the caller's signal into one signal, whose reason is a sentence. `end` releases
 * both.
 */
export function watchAttempt({ deadlineMs, signal: outer }: DeliveryWatch): {
  signal: AbortSignal;
  end(): void;
} {
  const controller = new AbortController();
  // Parallel DNS queries and connections for all destinations of an attempt listen to this signal.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => {
    controller.abort(new Error(`The attempt timed out after ${deadlineMs / 1000} s.`));
  }, deadlineMs);
  const onAbort = () => controller.abort(new Error("The attempt was canceled."));
  if (outer?.aborted) onAbort();
  outer?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}
