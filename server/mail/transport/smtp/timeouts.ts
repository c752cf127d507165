/** Time limits of each step of an SMTP dialogue, in milliseconds (at least the minimums of RFC 5321 section 4.5.3.2). */
export type RelayTimeouts = {
  /** Name lookup and TCP connection together. */
  connectMs: number;
  /** Greeting, EHLO, STARTTLS with its handshake, AUTH, MAIL, RCPT, RSET: each on its own. */
  commandMs: number;
  /** From DATA to its 354. */
  dataMs: number;
  /** Between two blocks of the body. */
  blockMs: number;
  /** From the final dot to its reply. A shorter limit causes duplicates. */
  finalMs: number;
};

export const RELAY_TIMEOUTS: RelayTimeouts = {
  connectMs: 30_000,
  commandMs: 300_000,
  dataMs: 120_000,
  blockMs: 180_000,
  finalMs: 600_000,
};
