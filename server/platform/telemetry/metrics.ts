/** Who waits for a connection: statements and transactions of Drizzle, or transactions of the hot paths. */
export type ConnectionPool = "general" | "hot";

/** The result of one attempt for one recipient. Every value is one of a fixed set, except `transport`. */
export type AttemptFigures = {
  /**
   * `direct`, `smtp_url`, `capture`, `test`, `team_relay`, or `relay:` and the name of a relay of the
   * installation.
   */
  transport: string;
  /** Class of the recipient's provider. */
  provider: string;
  outcome: string;
  /** Class of the reply that rejected or deferred the email; null without such a reply. */
  replyClass: string | null;
};

/**
 * Counts and durations of this process, for a monitoring system. Recording never throws and never waits.
 * Where metrics are off, there is no object, so nothing is measured.
 */
export type Metrics = {
  /** A response of the REST API, by its status. */
  recordRequest(status: number, seconds: number): void;
  /**
   * A checked submission, from the queue of the accepting statement to its commit. `emails` is 0 if nothing
   * was written.
   */
  recordAccept(result: "committed" | "repeated" | "failed", emails: number, seconds: number): void;
  recordAttempt(attempt: AttemptFigures): void;
  /** The time of one attempt with a server, including the wait for a connection to it. */
  recordDialogue(transport: string, seconds: number): void;
  /** A recorded result of a delivery, by its new status. */
  recordDelivery(status: string): void;
  recordWebhookAttempt(result: "succeeded" | "gone" | "failed", seconds: number): void;
  /** A rate limit was counted in this process, because the shared store failed. */
  recordLimiterFallback(): void;
  /** The time that a statement or transaction waited for a connection; 0 if one was free. */
  recordConnectionWait(pool: ConnectionPool, seconds: number): void;
};
