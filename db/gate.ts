/**
 * The database had no free connection or sent no response in time. The code has the format of the driver's
 * connection errors, so `isDatabaseUnreachable` includes it.
 */
export class DatabaseBusy extends Error {
  override name = "DatabaseBusy";
  readonly code = "CONNECTION_BUSY";

  constructor(waitedMs: number) {
    super(`The database did not respond within ${waitedMs} ms.`);
  }
}

/** Longer than the server's statement timeout, so only a dead connection reaches it. */
const answerMsMax = 35_000;

/** Called with the time in ms that a task waited for a connection; 0 if one was free. */
export type OnWait = (waitedMs: number) => void;

/**
 * Runs a task when a slot is free. Rejects with DatabaseBusy, without starting the task, if no slot becomes
 * free in time.
 */
export type Gate = <T>(task: () => PromiseLike<T>) => Promise<T>;

/**
 * Runs at most `slots` tasks at once, the others in order of arrival. The driver's own queue is unbounded and
 * can wait behind stuck statements. A fast rejection is better for a caller than a result after its deadline.
 */
export function createGate(slots: number, waitMsMax: number, onWait?: OnWait): Gate {
  let free = slots;
  const waiting = new Set<() => void>();

  const enter = () =>
    new Promise<void>((resolve, reject) => {
      const admit = () => {
        clearTimeout(timeout);
        resolve();
      };
      const timeout = setTimeout(() => {
        waiting.delete(admit);
        reject(new DatabaseBusy(waitMsMax));
      }, waitMsMax);
      waiting.add(admit);
    });

  const leave = () => {
    const [next] = waiting;
    if (next === undefined) free++;
    else {
      waiting.delete(next);
      next();
    }
  };

  return async (task) => {
    const requestedMs = onWait && performance.now();
    if (free > 0) free--;
    else await enter();
    if (requestedMs !== undefined) onWait?.(performance.now() - requestedMs);
    // The slot is occupied until the task ends, even after its caller timed out, because the task still uses
    // a connection.
    const running = (async () => task())();
    running.then(leave, leave);
    return withinMs(answerMsMax, running);
  };
}

/**
 * Resolves with the promise's value, or rejects with DatabaseBusy after the timeout. The operation itself
 * continues.
 */
export async function withinMs<T>(waitMsMax: number, promise: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseBusy(waitMsMax)), waitMsMax);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
