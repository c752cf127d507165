import { setTimeout as wait } from "node:timers/promises";
import type { HotSql } from "./client";

const CHANNEL = "backstamp_due";
/** Workers send to this channel after they recorded results. */
const CHANGES_CHANNEL = "backstamp_changes";
/** Triggers on the tables of keys, their links and domains send to this channel. */
/** The triggers of `db/functions/key-changes.sql` notify it. */
const KEYS_CHANNEL = "backstamp_keys";

/**
 * Minimum interval between NOTIFYs during a burst of commits. Each NOTIFY takes a lock of the whole cluster.
 */
const notifyEveryMs = 50;
/** The same for results. Only open pages listen for them. */
const notifyChangesEveryMs = 250;

type OnFault = (error: unknown) => void;

/** Behind a transaction pooler there are no sessions, so LISTEN does not work. Workers poll instead. */
const hasSessions = (hot: HotSql): boolean => hot.options.prepare;

/**
 * Creates the function that notifies all listeners that a delivery became due. The first call of a burst
 * sends immediately; the others are combined into one NOTIFY after the interval. It never throws and never
 * blocks. Errors go to `onFault`; the workers' poll finds the delivery then.
 */
export const createWaker = (hot: HotSql, onFault?: OnFault): (() => void) =>
  createNotifier(CHANNEL, notifyEveryMs, hot, onFault);

/** The same for a worker that recorded results. Pages that miss the NOTIFY poll. */
export const createChangeNotifier = (hot: HotSql, onFault?: OnFault): (() => void) =>
  createNotifier(CHANGES_CHANNEL, notifyChangesEveryMs, hot, onFault);

function createNotifier(
  channel: string,
  everyMs: number,
  hot: HotSql,
  onFault: OnFault = () => {},
): () => void {
  if (!hasSessions(hot)) return () => {};
  let isPausing = false;
  let isRequested = false;
  const send = async (): Promise<void> => {
    isPausing = true;
    while (isRequested) {
      isRequested = false;
      const pause = wait(everyMs, undefined, { ref: false });
      await hot.notify(channel, "").catch(onFault);
      await pause;
    }
    isPausing = false;
  };
  return () => {
    isRequested = true;
    if (!isPausing) void send();
  };
}

/**
 * Calls `onDue` for each NOTIFY of any process, and each time listening starts, also after a lost connection,
 * because notifications in between are lost. It uses its own connection, which reconnects automatically and
 * closes with the pool. Never throws: a failed first attempt goes to `onFault`, and further attempts follow.
 */
export const listenForDue = (hot: HotSql, onDue: () => void, onFault?: OnFault): Listening =>
  listenOn(CHANNEL, hot, onDue, onFault);

/** The same for each committed change of a key, of its links or of a domain, on the same connection. */
export const listenForKeyChanges = (hot: HotSql, onChange: () => void, onFault?: OnFault): Listening =>
  listenOn(KEYS_CHANNEL, hot, onChange, onFault);

/**
 * The same for each accepted email and each recorded result, on the same connection. Returns whether it
 * listens already: not before the first connection, and never behind a transaction pooler.
 */
export function listenForChanges(hot: HotSql, onChange: () => void, onFault?: OnFault): () => boolean {
  const channels = [CHANNEL, CHANGES_CHANNEL].map((channel) => listenOn(channel, hot, onChange, onFault));
  return () => channels.every(({ hasStarted }) => hasStarted());
}

type Listening = {
  /** Whether it has listened. A lost connection is not noticed here: the driver replaces it by itself. */
  hasStarted(): boolean;
  stop(): Promise<void>;
};

function listenOn(
  channel: string,
  hot: HotSql,
  onMessage: () => void,
  onFault: OnFault = () => {},
): Listening {
  if (!hasSessions(hot)) return { hasStarted: () => false, stop: async () => {} };
  let isStopped = false;
  let hasStarted = false;
  const callIfActive = () => {
    if (!isStopped) onMessage();
  };
  let unlisten = async (): Promise<unknown> => undefined;
  const onStart = () => {
    hasStarted = true;
    callIfActive();
  };
  hot.listen(channel, callIfActive, onStart).then((listening) => {
    unlisten = listening.unlisten;
  }, onFault);
  return {
    hasStarted: () => hasStarted,
    stop: async () => {
      isStopped = true;
      // Not awaited: an unreachable database responds late or never, and closing the pool also ends
      // listening.
      unlisten().catch(() => {});
    },
  };
}
