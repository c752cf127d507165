import type { OpenFailure, Session } from "./session";

export type PoolOptions = {
  connectionsMax: number;
  /** An unused connection is closed after this time. */
  idleMs: number;
  /** A connection is replaced after this many messages. */
  messagesMax: number;
  /** How long a server that had too many connections of ours is spared. */
  crowdedMs: number;
  open(signal: AbortSignal): Promise<{ session: Session } | { failure: OpenFailure }>;
};

/**
 * Sessions shared by many deliveries, first come, first served. There are never more connections than `connectionsMax`;
 * where the server takes fewer, the pool keeps to what works for a while instead of failing mail.
 */
export type Pool = {
  /** A session of one's own until `release`; `isFresh` demands a new one. Resolves with the failure when none can be had, or the signal ends the wait. */
  acquire(signal: AbortSignal, isFresh: boolean): Promise<Session | { failure: OpenFailure }>;
  release(session: Session): void;
  /** Closes idle sessions; the others as they are released. */
  close(): void;
};

export function createPool(options: PoolOptions): Pool {
  const idle: { session: Session; timer: NodeJS.Timeout }[] = [];
  const waiting: (() => void)[] = [];
  let limit = options.connectionsMax;
  /** Deliveries that have or open a connection, and those of them that have one. */
  let taken = 0;
  let lent = 0;
  let isClosed = false;
  let restoreTimer: NodeJS.Timeout | undefined;

  /** Resolves when this delivery may use one connection; false when the signal came first. */
  function takeTurn(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (taken < limit) {
      taken += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (hasTurn: boolean) => {
        signal.removeEventListener("abort", onAbort);
        resolve(hasTurn);
      };
      const start = () => settle(true);
      const onAbort = () => {
        waiting.splice(waiting.indexOf(start), 1);
        settle(false);
      };
      waiting.push(start);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  function endTurn(): void {
    taken -= 1;
    startWaiting();
  }

  function startWaiting(): void {
    while (taken < limit && waiting.length > 0) {
      taken += 1;
      waiting.shift()?.();
    }
  }

  function takeIdle(): Session | null {
    for (let entry = idle.pop(); entry !== undefined; entry = idle.pop()) {
      clearTimeout(entry.timer);
      if (entry.session.isOpen()) return entry.session;
    }
    return null;
  }

  /** What one idle connection suffered, the others have suffered too; and a new one must not exceed the limit. */
  function dropIdle(): void {
    for (const { session, timer } of idle.splice(0)) {
      clearTimeout(timer);
      session.quit();
    }
  }

  function keep(session: Session): void {
    const entry = { session, timer: setTimeout(() => session.quit(), options.idleMs) };
    idle.push(entry);
    session.onClose(() => {
      clearTimeout(entry.timer);
      const at = idle.indexOf(entry);
      if (at !== -1) idle.splice(at, 1);
    });
  }

  /** No more connections for a while than are at work now; false when none is, since waiting would be for nothing. */
  function shrink(): boolean {
    if (lent < 1) return false;
    limit = Math.min(limit, lent);
    clearTimeout(restoreTimer);
    restoreTimer = setTimeout(() => {
      limit = options.connectionsMax;
      startWaiting();
    }, options.crowdedMs);
    restoreTimer.unref();
    return true;
  }

  async function acquire(signal: AbortSignal, isFresh: boolean): Promise<Session | { failure: OpenFailure }> {
    if (isFresh) dropIdle();
    for (;;) {
      if (!(await takeTurn(signal))) return { failure: noTurn(signal) };
      const used = isFresh ? null : takeIdle();
      const opened = used === null ? await options.open(signal) : { session: used };
      if ("session" in opened) {
        lent += 1;
        return opened.session;
      }
      const mayWait = opened.failure.isCrowded && !signal.aborted && shrink();
      endTurn();
      if (!mayWait) return opened;
    }
  }

  return {
    acquire,
    release(session) {
      lent -= 1;
      session.tidy().then(() => {
        if (isClosed || session.messages() >= options.messagesMax) session.quit();
        else if (session.isOpen()) keep(session);
        endTurn();
      });
    },
    close() {
      isClosed = true;
      clearTimeout(restoreTimer);
      dropIdle();
    },
  };
}

function noTurn(signal: AbortSignal): OpenFailure {
  const said = signal.reason instanceof Error ? signal.reason.message : "The attempt was cut short.";
  return {
    reason: `${said} No connection was free until then.`,
    isTlsFault: false,
    isCrowded: false,
    dialogue: "",
  };
}
