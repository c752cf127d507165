import { errorFacts, type Log } from "#server/platform/log";
import { type Marks, TOPICS, type Topic } from "./changes";

/** Tells open pages what changed in their team. */
export type Live = {
  /**
   * First an empty list, once changes are noticed, then the topics of each change, until `signal` aborts or `close` is
   * called. Topics that change while the caller is busy are merged. Null if this process, or this user, has too many
   * already: the caller must poll.
   */
  watch(by: Watcher, signal: AbortSignal): AsyncGenerator<readonly Topic[]> | null;
  /** Ends all of them. */
  close(): void;
};
type Watcher = { teamId: string; userId: string };

type Options = {
  read: (teamId: string) => Promise<Marks>;
  log: Log;
  /** Interval in ms between two readings of a team. Default: one second. */
  everyMs?: number;
  /** The same after a reading that failed. Default: five seconds. */
  afterFaultMs?: number;
};
/** Each of them holds a connection of a browser. */
const watchersMax = 1_000;
const watchersOfUserMax = 50;

type Room = { onChange: Set<(topics: readonly Topic[]) => void>; isReady: boolean };

/**
 * Reads the marks of each watched team once per second, whatever the number of watchers: a hundred open pages cost one
 * statement per team and second. A team without watchers is not read.
 */
export function createLive({ read, log, everyMs = 1_000, afterFaultMs = 5_000 }: Options): Live {
  const rooms = new Map<string, Room>();
  const watchersOf = new Map<string, number>();
  /** Of each watcher: ends its wait. */
  const wakes = new Set<() => void>();
  let isClosed = false;

  async function readUntilEmpty(teamId: string, room: Room): Promise<void> {
    let known: Marks | null = null;
    while (room.onChange.size > 0) {
      let pauseMs = everyMs;
      try {
        const marks = await read(teamId);
        const changed = known === null ? [] : TOPICS.filter((topic) => marks[topic] !== known?.[topic]);
        if (known === null || changed.length > 0) report(room, changed);
        known = marks;
      } catch (error) {
        log.warn("live.not_read", errorFacts(error));
        pauseMs = afterFaultMs;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
    }
    rooms.delete(teamId);
  }

  function report(room: Room, topics: readonly Topic[]): void {
    room.isReady = true;
    for (const onChange of room.onChange) onChange(topics);
  }

  function roomOf(teamId: string): Room {
    const known = rooms.get(teamId);
    if (known) return known;
    const room: Room = { onChange: new Set(), isReady: false };
    rooms.set(teamId, room);
    // Begins after the caller has entered.
    queueMicrotask(() => void readUntilEmpty(teamId, room));
    return room;
  }

  async function* changesOf({ teamId, userId }: Watcher, signal: AbortSignal) {
    const changed = new Set<Topic>();
    let hasNews = false;
    let wake = () => {};
    const wakeUp = () => wake();
    const onChange = (topics: readonly Topic[]) => {
      for (const topic of topics) changed.add(topic);
      hasNews = true;
      wake();
    };
    wakes.add(wakeUp);
    watchersOf.set(userId, (watchersOf.get(userId) ?? 0) + 1);
    const room = roomOf(teamId);
    room.onChange.add(onChange);
    if (room.isReady) onChange([]);
    signal.addEventListener("abort", wakeUp);
    try {
      while (!signal.aborted && !isClosed) {
        if (!hasNews) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          continue;
        }
        hasNews = false;
        const topics = [...changed];
        changed.clear();
        yield topics;
      }
    } finally {
      signal.removeEventListener("abort", wakeUp);
      room.onChange.delete(onChange);
      wakes.delete(wakeUp);
      const left = (watchersOf.get(userId) ?? 1) - 1;
      if (left > 0) watchersOf.set(userId, left);
      else watchersOf.delete(userId);
    }
  }

  return {
    watch(by, signal) {
      const isFull = wakes.size >= watchersMax || (watchersOf.get(by.userId) ?? 0) >= watchersOfUserMax;
      return isFull ? null : changesOf(by, signal);
    },
    close() {
      isClosed = true;
      for (const wake of wakes) wake();
    },
  };
}
