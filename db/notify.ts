import { setTimeout as wait } from "node:timers/promises";
import type { HotSql } from "./client";

const CHANNEL = "posthorn_due";

/** A burst of commits costs one NOTIFY per this long: each takes a lock that the whole cluster shares. */
const notifyEveryMs = 50;

type OnFault = (error: unknown) => void;

/** Behind a transaction pooler no session is ours, so nobody could listen; those who wait poll. */
const hasSessions = (hot: HotSql): boolean => hot.options.prepare;

/**
 * Makes the call that says "something became due" to every listener. The first of a burst is sent at once, the rest as one
 * more at the end of the pause. Never throws and never waits; what fails goes to `onFault`, and the poll is the net.
 */
export function createWaker(hot: HotSql, onFault: OnFault = () => {}): () => void {
  if (!hasSessions(hot)) return () => {};
  let isPausing = false;
  let isAsked = false;
  const send = async (): Promise<void> => {
    isPausing = true;
    while (isAsked) {
      isAsked = false;
      const pause = wait(notifyEveryMs, undefined, { ref: false });
      await hot.notify(CHANNEL, "").catch(onFault);
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
 * Never throws: a first try that fails goes to `onFault`, and further ones follow.
 */
export function listenForDue(
  hot: HotSql,
  onDue: () => void,
  onFault: OnFault = () => {},
): { stop(): Promise<void> } {
  if (!hasSessions(hot)) return { stop: async () => {} };
  let isStopped = false;
  const tell = () => {
    if (!isStopped) onDue();
  };
  let unlisten = async (): Promise<unknown> => undefined;
  hot.listen(CHANNEL, tell, tell).then((listening) => {
    unlisten = listening.unlisten;
  }, onFault);
  return {
    stop: async () => {
      isStopped = true;
      // Not waited for: a database that is away answers late or never, and the pool's end does the same.
      unlisten().catch(() => {});
    },
  };
}
