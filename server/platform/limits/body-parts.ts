import { AppError } from "../errors";
import { within } from "../within";
import type { BodyReservation, BodyTimeouts } from "./body-budget";

/**
 * Yields the parts of a request body as they arrive, each after it is counted in the budget. Throws 408 if
 * the body stalls or arrives too slowly, and 503 if the budget is full. Only the time spent reading counts.
 * Leaves the stream unlocked.
 */
export async function* bodyParts(
  body: ReadableStream<Uint8Array>,
  claim: BodyReservation,
): AsyncGenerator<Uint8Array> {
  const { timeouts } = claim;
  const reader = body.getReader();
  let bytes = 0;
  let awaitedMs = 0;
  try {
    for (;;) {
      const since = performance.now();
      const ms = Math.min(timeouts.idleMs, arrivalMsMax(bytes, timeouts) - awaitedMs);
      const part = await inTime(reader.read(), ms, claim.signal);
      if (part.done) return claim.settle();
      awaitedMs += performance.now() - since;
      bytes += part.value.length;
      await claim.grow(part.value.length);
      yield part.value;
    }
  } finally {
    reader.releaseLock();
  }
}

/** The maximum time in ms for this many bytes to arrive. */
export const arrivalMsMax = (bytes: number, { graceMs, bytesPerSecondMin }: BodyTimeouts): number =>
  Math.max(graceMs, (bytes / bytesPerSecondMin) * 1_000);

/** Resolves with the promise's value. Rejects with 408 after `ms`, or with the signal's reason. */
export const inTime = <T>(arriving: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> =>
  within(arriving, { ms, signal, fault: () => new AppError("too_slow", TOO_SLOW) });

const TOO_SLOW = "The body did not arrive in time. Send it without pauses, or send less in one request.";
