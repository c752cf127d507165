import type { Outcome } from "../outcome";

/**
 * A message ready for the wire. `bytes` are complete, CRLF only, and the same on every attempt. `returnPath` is the
 * envelope sender, "" for the null sender. `smtpUtf8` says that the headers hold an address outside ASCII. `needsTls`
 * says that it goes to the recipient's server encrypted or not at all. The first `signatureBytes` of it are our
 * DKIM-Signature fields, below which stands the same message without. `messageId` has no angle brackets. `wantsReports`
 * says that the return path is read by us, and is that of the one recipient.
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

/** The conditions under which an attempt may go on. */
export type DeliveryWatch = {
  /** For the whole attempt, waiting for a connection included. */
  deadlineMs: number;
  /** Whether the lease is still ours. Asked right before the final dot is written; false means nothing is delivered. */
  stillMine(): boolean;
  /** Ends the attempt at once; what was surely not accepted is deferred, the rest is unknown. */
  signal?: AbortSignal;
};

/**
 * A way out of the house. `deliver` gives exactly one outcome per entry of `recipients`, in their order, and never
 * throws: whatever goes wrong is an outcome. `close` ends idle connections and waits for running deliveries.
 */
export type Transport = {
  name: "relay" | "capture" | "direct";
  deliver(message: OutgoingMessage, recipients: string[], watch: DeliveryWatch): Promise<Outcome[]>;
  close(): Promise<void>;
};
