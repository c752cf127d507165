/**
 * Time limits of each step of an SMTP dialogue, in milliseconds (at least the minimums of RFC 5321 section
 * 4.5.3.2).
 */
export const RELAY_TIMEOUTS = {
  /** Name lookup and TCP connection together. */
  connectMs: 30_000,
  /** Greeting, EHLO, STARTTLS with its handshake, AUTH, MAIL, RCPT, RSET: each on its own. */
  commandMs: 300_000,
  /** From DATA to its 354. */
  dataMs: 120_000,
  /** Between two blocks of the body. */
  blockMs: 180_000,
  /** From the final dot to its reply. A shorter limit causes duplicates. */
  finalMs: 600_000,
};
export type RelayTimeouts = typeof RELAY_TIMEOUTS;
