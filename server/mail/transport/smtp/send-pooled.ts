import type { Outcome } from "../../outcome";
import type { OutgoingMessage, SendWatch } from "../transport";
import type { Connections } from "./pool";
import type { OpenFailure } from "./session";

type Sent = { outcomes: Outcome[] } | { failure: OpenFailure };

/**
 * Sends a message over connections of the pool, in as many transactions as the server's recipient limit
 * requires. A recipient is tried again only if its transaction was full. A full transaction accepted at least
 * one recipient, which bounds the number of transactions. A transaction that the server defers as a whole is
 * the last.
 */
export async function sendPooled(
  pool: Connections,
  message: OutgoingMessage,
  recipients: readonly string[],
  watch: SendWatch,
): Promise<Sent> {
  const sent = await sendOnce(pool, message, recipients, watch);
  if ("failure" in sent) return sent;
  const left = sent.outcomes.filter(({ nextTransaction }) => nextTransaction);
  const isCompleted = sent.outcomes.some(
    ({ kind, step }) => kind === "accepted" || step === "data" || step === "message",
  );
  if (left.length === 0 || !isCompleted || watch.signal.aborted || !watch.isLeaseValid()) return sent;
  const next = await sendPooled(
    pool,
    message,
    left.map(({ recipient }) => recipient),
    watch,
  );
  if ("failure" in next) return sent;
  const later = new Map(next.outcomes.map((outcome) => [outcome.recipient, outcome]));
  return { outcomes: sent.outcomes.map((outcome) => later.get(outcome.recipient) ?? outcome) };
}

/**
 * If a pooled connection was closed before the server received any of the message, tries once more over a new
 * one.
 */
async function sendOnce(
  pool: Connections,
  message: OutgoingMessage,
  recipients: readonly string[],
  watch: SendWatch,
): Promise<Sent> {
  for (let isFresh = false; ; isFresh = true) {
    const session = await pool.acquire(watch.signal, isFresh);
    if ("failure" in session) return session;
    try {
      const { outcomes, isStale } = await session.send(message, recipients, watch);
      if (!isStale || isFresh || pool.mayRepeat?.(outcomes) === false) return { outcomes };
    } finally {
      pool.release(session);
    }
  }
}
