/** How long each step of a dialogue may take, in milliseconds (RFC 5321 section 4.5.3.2, its minimums or more). */
export type RelayTimeouts = {
  /** Name lookup and TCP connection together. */
  connectMs: number;
  /** Greeting, EHLO, STARTTLS with its handshake, AUTH, MAIL, RCPT, RSET: each on its own. */
  commandMs: number;
  /** DATA until its 354. */
  dataMs: number;
  /** The body: between two pieces that the server takes. */
  blockMs: number;
  /** The final dot until its reply. Giving up earlier makes duplicates. */
  finalMs: number;
};

export const RELAY_TIMEOUTS: RelayTimeouts = {
  connectMs: 30_000,
  commandMs: 300_000,
  dataMs: 120_000,
  blockMs: 180_000,
  finalMs: 600_000,
};
