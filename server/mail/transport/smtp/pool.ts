import type { Outcome } from "../../outcome";
import type { OpenFailure, Session } from "./session";

export type PoolOptions = {
  connectionsMax: number;
  /** An idle connection is closed after this time. */
  idleMs: number;
  /** A connection is replaced after this many messages. */
  messagesMax: number;
  /** How long the pool stays smaller after the server rejected a further connection. */
  crowdedMs: number;
  open(signal: AbortSignal): Promise<{ session: Session } | { failure: OpenFailure }>;
  /** No connection is left, and nothing to remember about the server. */
  onUnused?(): void;
};

export type Pool = ReturnType<typeof createPool>;

/** What sends over a pool. */
export type Connections = Pick<Pool, "acquire" | "release"> & {
  /**
   * Whether a message that got only these outcomes over a reused connection may be sent over a new one at
   * once. Default: always.
   */
  mayRepeat?(outcomes: readonly Outcome[]): boolean;
};

/**
 * Sessions shared by many deliveries, in FIFO order. The pool never exceeds `connectionsMax` connections. If
 * the server accepts fewer, the pool stays at the current number for a while instead of failing deliveries.
 */
export function createPool(options: PoolOptions) {
  const idle: { session: Session; timer: NodeJS.Timeout }[] = [];
  const waiting: (() => void)[] = [];
  let limit = options.connectionsMax;
  /** `slots`: deliveries that have or open a connection. `acquired`: deliveries that have one. */
  let slots = 0;
  let acquired = 0;
  let isClosed = false;
  let restoreTimer: NodeJS.Timeout | undefined;

  /** Resolves with true once a slot is free; with false if the signal aborts first. */
  function acquireSlot(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (slots < limit) {
      slots += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (hasSlot: boolean) => {
        signal.removeEventListener("abort", onAbort);
        resolve(hasSlot);
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

  function releaseSlot(): void {
    slots -= 1;
    startWaiting();
  }

  function checkUnused(): void {
    if (slots === 0 && idle.length === 0 && restoreTimer === undefined) options.onUnused?.();
  }

  function startWaiting(): void {
    while (slots < limit && waiting.length > 0) {
      slots += 1;
      waiting.shift()?.();
    }
  }

  function popIdle(): Session | null {
    for (let entry = idle.pop(); entry !== undefined; entry = idle.pop()) {
      clearTimeout(entry.timer);
      if (entry.session.isOpen()) return entry.session;
    }
    return null;
  }

  /**
   * If one idle connection was closed, the others probably were too. This also keeps a new one within the
   * limit.
   */
  function closeIdle(): void {
    for (const { session, timer } of idle.splice(0)) {
      clearTimeout(timer);
      session.quit();
    }
  }

  function addIdle(session: Session): void {
    const entry = { session, timer: setTimeout(() => session.quit(), options.idleMs) };
    idle.push(entry);
    session.onClose(() => {
      clearTimeout(entry.timer);
      const at = idle.indexOf(entry);
      if (at === -1) return;
      idle.splice(at, 1);
      checkUnused();
    });
  }

  /**
   * Limits the pool to the connections in use for a while. False if none is in use: no connection would be
   * released.
   */
  function shrink(): boolean {
    if (acquired < 1) return false;
    limit = Math.min(limit, acquired);
    clearTimeout(restoreTimer);
    restoreTimer = setTimeout(() => {
      restoreTimer = undefined;
      limit = options.connectionsMax;
      startWaiting();
      checkUnused();
    }, options.crowdedMs);
    restoreTimer.unref();
    return true;
  }

  /**
   * Acquires a session for exclusive use until `release`; `isFresh` requires a new one. Resolves with the
   * failure if no session can be opened or the signal aborts the wait.
   */
  async function acquire(signal: AbortSignal, isFresh: boolean): Promise<Session | { failure: OpenFailure }> {
    if (isFresh) closeIdle();
    for (;;) {
      if (!(await acquireSlot(signal))) return { failure: noFreeConnection(signal) };
      const reused = isFresh ? null : popIdle();
      const opened = reused === null ? await options.open(signal) : { session: reused };
      if ("session" in opened) {
        acquired += 1;
        return opened.session;
      }
      const canWait = opened.failure.isCrowded && !signal.aborted && shrink();
      releaseSlot();
      if (canWait) continue;
      checkUnused();
      return opened;
    }
  }

  return {
    acquire,
    release(session: Session): void {
      acquired -= 1;
      session.reset().then(() => {
        if (isClosed || session.messages() >= options.messagesMax) session.quit();
        else if (session.isOpen()) addIdle(session);
        releaseSlot();
        checkUnused();
      });
    },
    /** Closes idle sessions now and the others on release. */
    close(): void {
      isClosed = true;
      clearTimeout(restoreTimer);
      closeIdle();
    },
  };
}

function noFreeConnection(signal: AbortSignal): OpenFailure {
  const abortReason = signal.reason instanceof Error ? signal.reason.message : "The attempt was canceled.";
  return {
    reason: `${abortReason} No connection was available in this time.`,
  };
}
