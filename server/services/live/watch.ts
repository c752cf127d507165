import { errorFacts, type Log } from "#server/platform/log";
import { type Marks, TOPICS, type Topic } from "./changes";

/** Sends each open page the topics that changed in its team. */
export type Live = {
  /**
   * First an empty list, once changes are noticed, then the topics of each change, until `signal` aborts,
   * `close` is called, or the session may no longer watch the team. Topics that change while the caller is
   * busy are merged. Null if this process, or this user, has too many already: the caller must poll.
   */
  watch(by: Watcher, signal: AbortSignal): AsyncGenerator<readonly Topic[]> | null;
  /**
   * Something may have changed, in any team. Watched teams are read before their interval ends, as far as
   * their budget permits.
   */
  hint(): void;
  /** Ends all of them. */
  close(): void;
};
type Watcher = { teamId: string; userId: string; sessionId: string };

type Options = {
  read: (teamId: string) => Promise<Marks>;
  /**
   * Which of the sessions may watch the team now. Called before each change is reported, so that a page
   * receives nothing after its user was removed or signed out, and also without a change.
   */
  findAllowed: (teamId: string, sessionIds: readonly string[]) => Promise<ReadonlySet<string>>;
  log: Log;
  /** Interval in ms between two readings of a team, on average at least. Default: one second. */
  everyMs?: number;
  /**
   * Starts to call back when something may have changed; called with the first watcher. Returns whether it
   * reports changes at present: a team without a hint is then read half as often.
   */
  listen?: (onHint: () => void) => () => boolean;
  /** The same after a reading that failed. Default: five seconds. */
  afterFaultMs?: number;
};
/** Each of them holds a connection of a browser. */
const watchersMax = 1_000;
const watchersOfUserMax = 50;

/**
 * Readings of a team that may follow one another at once: an email is accepted, claimed and delivered within
 * a second.
 */
const readingsInBurst = 3;

type Page = { sessionId: string; onChange(topics: readonly Topic[]): void; end(): void };
type Room = {
  pages: Set<Page>;
  isReady: boolean;
  isHinted: boolean;
  onHint: () => void;
};

/**
 * Reads the marks of each watched team at each hint, and without hints at an interval. Whatever the number of
 * hints and watchers, a team costs at most one statement per second on average: a hundred open pages cost as
 * much as one. A team without watchers is not read.
 */
export function createLive(options: Options): Live {
  const { read, findAllowed, log, everyMs = 1_000, afterFaultMs = 5_000 } = options;
  const { listen = () => () => false } = options;
  const rooms = new Map<string, Room>();
  const watchersOf = new Map<string, number>();
  /** Of each watcher: ends its wait. */
  const wakes = new Set<() => void>();
  let isListening: (() => boolean) | undefined;
  /** Email changed without a hint since the last one: the connection of the hints may be lost. */
  let isHintMissing = false;
  let isClosed = false;

  async function readUntilEmpty(teamId: string, room: Room): Promise<void> {
    let known: Marks | null = null;
    const budget = createBudget(everyMs);
    while (room.pages.size > 0) {
      budget.spend();
      const wasHinted = room.isHinted;
      // A hint during the reading may be of a change that it does not include.
      room.isHinted = false;
      let restMs = everyMs;
      try {
        const marks = await read(teamId);
        await endForbidden(teamId, room);
        const changed = known === null ? [] : TOPICS.filter((topic) => marks[topic] !== known?.[topic]);
        if (known === null || changed.length > 0) report(room, changed);
        known = marks;
        if (changed.includes("emails") && !wasHinted && !room.isHinted) isHintMissing = true;
        if (isListening?.() && !isHintMissing) restMs = 2 * everyMs;
      } catch (error) {
        log.warn("live.not_read", errorFacts(error));
        restMs = afterFaultMs;
        room.isHinted = false;
      }
      if (!room.isHinted) await rest(room, restMs);
      await new Promise((resolve) => setTimeout(resolve, budget.waitMs()).unref());
    }
    rooms.delete(teamId);
  }

  function report(room: Room, topics: readonly Topic[]): void {
    room.isReady = true;
    for (const page of room.pages) page.onChange(topics);
  }

  async function endForbidden(teamId: string, room: Room): Promise<void> {
    const pages = [...room.pages];
    const allowed = await findAllowed(teamId, [...new Set(pages.map(({ sessionId }) => sessionId))]);
    for (const page of pages) if (!allowed.has(page.sessionId)) page.end();
  }

  function hint(): void {
    for (const room of rooms.values()) {
      room.isHinted = true;
      room.onHint();
    }
  }

  function roomOf(teamId: string): Room {
    isListening ??= listen(() => {
      isHintMissing = false;
      hint();
    });
    const known = rooms.get(teamId);
    if (known) return known;
    const room: Room = { pages: new Set(), isReady: false, isHinted: false, onHint: () => {} };
    rooms.set(teamId, room);
    // Begins after the caller has entered.
    queueMicrotask(() => void readUntilEmpty(teamId, room));
    return room;
  }

  async function* changesOf({ teamId, userId, sessionId }: Watcher, signal: AbortSignal) {
    const changed = new Set<Topic>();
    let hasNews = false;
    let isAllowed = true;
    let wake = () => {};
    const wakeUp = () => wake();
    const onChange = (topics: readonly Topic[]) => {
      for (const topic of topics) changed.add(topic);
      hasNews = true;
      wake();
    };
    const end = () => {
      isAllowed = false;
      wake();
    };
    const page: Page = { sessionId, onChange, end };
    wakes.add(wakeUp);
    watchersOf.set(userId, (watchersOf.get(userId) ?? 0) + 1);
    const room = roomOf(teamId);
    room.pages.add(page);
    if (room.isReady) onChange([]);
    signal.addEventListener("abort", wakeUp);
    try {
      while (isAllowed && !signal.aborted && !isClosed) {
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
      room.pages.delete(page);
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
    hint,
    close() {
      isClosed = true;
      for (const wake of wakes) wake();
    },
  };
}

/** Waits until the next hint, and at most `restMs`. */
const rest = (room: Room, restMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, restMs).unref();
    room.onHint = () => {
      clearTimeout(timer);
      resolve();
    };
  });

/** One reading per `everyMs` on average, with `readingsInBurst` at once: the generic cell rate algorithm. */
function createBudget(everyMs: number): { spend(): void; waitMs(): number } {
  let usedUntilMs = 0;
  return {
    spend() {
      usedUntilMs = Math.max(usedUntilMs, performance.now()) + everyMs;
    },
    waitMs: () => Math.max(0, usedUntilMs - performance.now() - (readingsInBurst - 1) * everyMs),
  };
}
