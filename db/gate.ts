/**
 * Nothing was begun because the database had no room in time. The code reads like the driver's own for a lost connection,
 * so that whoever asks `isDatabaseAway` knows what to do.
 */
export class DatabaseBusy extends Error {
  override name = "DatabaseBusy";
  readonly code = "CONNECTION_BUSY";

  constructor(waitedMs: number) {
    super(`The database had no room for ${waitedMs} ms.`);
  }
}

/** Runs a task when there is room for it; rejects with DatabaseBusy, the task not begun, when there is none in time. */
export type Gate = <T>(task: () => PromiseLike<T>) => Promise<T>;

/**
 * At most `slots` tasks at once, the others in the order they came. The driver itself queues without bound, and behind
 * statements that are stuck; a caller is better served by a quick refusal than by an answer after its own deadline.
 */
export function createGate(slots: number, waitMsMax: number): Gate {
  let free = slots;
  const waiting = new Set<() => void>();

  const enter = () =>
    new Promise<void>((resolve, reject) => {
      const admit = () => {
        clearTimeout(patience);
        resolve();
      };
      const patience = setTimeout(() => {
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
    if (free > 0) free--;
    else await enter();
    try {
      return await task();
    } finally {
      leave();
    }
  };
}

/** What `promise` gives if it comes in time, else DatabaseBusy. For reads alone: what is asked for goes on regardless. */
export async function withinMs<T>(waitMsMax: number, promise: PromiseLike<T>): Promise<T> {
  let patience: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_, reject) => {
    patience = setTimeout(() => reject(new DatabaseBusy(waitMsMax)), waitMsMax);
  });
  try {
    return await Promise.race([promise, lateness]);
  } finally {
    clearTimeout(patience);
  }
}
