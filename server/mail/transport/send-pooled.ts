import type { Outcome } from "../outcome";
import type { Pool } from "./pool";
import type { SendWatch } from "./send-message";
import type { OpenFailure } from "./session";
import type { OutgoingMessage } from "./transport";

/**
 * Offers a message over a connection of the pool, once. A kept connection that turns out to be gone before a word of the
 * message was heard does not count: a new one is made for it.
 */
export async function sendPooled(
  pool: Pool,
  message: OutgoingMessage,
  recipients: readonly string[],
  watch: SendWatch,
): Promise<{ outcomes: Outcome[] } | { failure: OpenFailure }> {
  for (let isFresh = false; ; isFresh = true) {
    const session = await pool.acquire(watch.signal, isFresh);
    if ("failure" in session) return session;
    try {
      const { outcomes, isStale } = await session.send(message, recipients, watch);
      if (!isStale || isFresh) return { outcomes };
    } finally {
      pool.release(session);
    }
  }
}
