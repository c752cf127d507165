import { setTimeout as wait } from "node:timers/promises";
import type { HotSql } from "./client";

const CHANNEL = "posthorn_due";

/** A burst of commits costs one NOTIFY per this long: each takes a lock that the whole cluster shares. */
const notifyEveryMs = 50;

/** The part of a log that is needed here. */
type Warnings = { warn(event: string, facts?: Record<string, unknown>): void };

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : null);

/** Behind a transaction pooler no session is ours, so nobody could listen; those who wait poll. */
const hasSessions = (hot: HotSql): boolean => hot.options.prepare;

/**
 * Makes the call that says "something became due" to every listener. The first of a burst is sent at once, the rest as one
 * more at the end of the pause. Never throws and never waits; what fails is logged, and the poll is the net.
 */
export function createWaker(hot: HotSql, log: Warnings): () => void {
  if (!hasSessions(hot)) return () => {};
  let isPausing = false;
  let isAsked = false;
  const send = async (): Promise<void> => {
    isPausing = true;
    while (isAsked) {
      isAsked = false;
      const pause = wait(notifyEveryMs, undefined, { ref: false });
      await hot.notify(CHANNEL, "").catch((error: unknown) => {
        log.warn("due.notify_failed", { code: codeOf(error) });
      });
      await pause;
    }
    isPausing = false;
  };
  return () => {
    isAsked = true;
    if (!isPausing) void send();
  };
}

/**
 * Calls `onDue` for every NOTIFY of any process, and once whenever listening begins, also after a lost connection, since
 * what was said in between is lost. It has a connection of its own, which comes back by itself and ends with the pool.
 * Never throws: a first try that fails is logged, and further ones follow. The answer stops the calls.
 */
export function listenForDue(hot: HotSql, onDue: () => void, log: Warnings): () => Promise<void> {
  if (!hasSessions(hot)) return async () => {};
  let isStopped = false;
  const tell = () => {
    if (!isStopped) onDue();
  };
  const listening = hot.listen(CHANNEL, tell, tell).catch((error: unknown) => {
    log.warn("due.listen_failed", { code: codeOf(error) });
    return null;
  });
  return async () => {
    isStopped = true;
    // A connection that is already gone listens to nothing.
    await (await listening)?.unlisten().catch(() => {});
  };
}
