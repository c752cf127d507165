/**
 * The database had no room, or no answer, in time. The code reads like the driver's own for a lost connection,
 * so that whoever asks `isDatabaseAway` knows what to do.
 */
export class DatabaseBusy extends Error {
  override name = "DatabaseBusy";
  readonly code = "CONNECTION_BUSY";

  constructor(waitedMs: number) {
    super(`The database kept us waiting for ${waitedMs} ms.`);
  }
}

/** Longer than any statement may run on the server, so that only a dead connection is given up. */
const answerMsMax = 35_000;

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
    // The place is taken until the task itself ends, also where its caller has given up: it still holds a connection.
    const running = (async () => task())();
    running.then(leave, leave);
    return withinMs(answerMsMax, running);
  };
}

/** What `promise` gives if it comes in time, else DatabaseBusy. What is asked for goes on regardless. */
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
