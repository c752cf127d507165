import { setMaxListeners } from "node:events";
import type { Outcome } from "../outcome";

/**
 * A message ready to send. `bytes` are complete, use CRLF only, and are the same on every attempt. `returnPath` is the
 * envelope sender, "" for the null sender. `smtpUtf8`: the headers contain a non-ASCII address. `needsTls`: send the
 * message only over TLS. The first `signatureBytes` are our DKIM-Signature fields; the rest is the unsigned message.
 * `messageId` has no angle brackets. `wantsReports`: Backstamp reads the return path, which belongs to one recipient.
 */
export type OutgoingMessage = {
  id: string;
  returnPath: string;
  bytes: Uint8Array;
  smtpUtf8: boolean;
  needsTls?: boolean;
  signatureBytes?: number;
  messageId?: string;
  wantsReports?: boolean;
};

/** The conditions under which an attempt may continue. */
export type DeliveryWatch = {
  /** Time limit of the whole attempt, including the wait for a connection. */
  deadlineMs: number;
  /** Whether the lease is still valid. Checked right before the final dot; false prevents the delivery. */
  isLeaseValid(): boolean;
  /** Ends the attempt at once: deferred if the message was certainly not accepted, else unknown. */
  signal?: AbortSignal;
};

/**
 * A transport for outgoing email. `deliver` returns exactly one outcome per entry of `recipients`, in the same order, and
 * never throws: every failure is an outcome. `close` ends idle connections and waits for running deliveries.
 */
export type Transport = {
  name: "relay" | "capture" | "direct";
  deliver(message: OutgoingMessage, recipients: string[], watch: DeliveryWatch): Promise<Outcome[]>;
  close(): Promise<void>;
};

/** Combines the deadline and the caller's signal into one signal, whose reason is a sentence. `end` releases both. */
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
