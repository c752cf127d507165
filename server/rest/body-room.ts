import { AppError } from "#server/errors";

/** Bodies up to this size are not counted: even hundreds of them are no burden. */
export const smallBodyBytes = 256 * 1024;
/** Bodies of the largest size that are handled at once. In memory each becomes up to ten times as large. */
const largestAtOnce = 2;
const waitMsMax = 15_000;

/** Room for large bodies, which a process shares among its requests. */
export type BodyRoom = {
  /**
   * Waits for its turn until there is room for a body of so many bytes, and then gives back what leaves it again. 503
   * when the others take too long: the caller's bytes were not read by then, so waiting costs no memory.
   */
  enter(bytes: number): Promise<() => void>;
};

/** Room for two bodies of the largest size that one request may have, or as many more of smaller ones. */
export function createBodyRoom(bodyMaxBytes: number): BodyRoom {
  let free = bodyMaxBytes * largestAtOnce;
  const waiting = new Set<{ bytes: number; admit: () => void }>();

  const admitNext = () => {
    for (const next of waiting) {
      // Nobody overtakes: a large one would wait for ever behind many that are smaller.
      if (next.bytes > free) return;
      waiting.delete(next);
      free -= next.bytes;
      next.admit();
    }
  };

  return {
    async enter(bytes) {
      if (bytes <= smallBodyBytes) return () => {};
      await new Promise<void>((resolve, reject) => {
        const patience = setTimeout(() => {
          waiting.delete(entry);
          reject(busy());
          admitNext();
        }, waitMsMax);
        const entry = {
          bytes,
          admit: () => {
            clearTimeout(patience);
            resolve();
          },
        };
        waiting.add(entry);
        admitNext();
      });
      let isInside = true;
      return () => {
        if (!isInside) return;
        isInside = false;
        free += bytes;
        admitNext();
      };
    },
  };
}

const busy = () =>
  new AppError(
    "unavailable",
    "Other large requests are being handled just now. Try again in a moment, with the same `Idempotency-Key` if you gave one.",
  );
