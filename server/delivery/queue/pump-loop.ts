import { setTimeout as wait } from "node:timers/promises";

/** Fallback for lost notifications. */
const pollMs = 1_000;
const errorDelayMs = 1_000;

/**
 * Calls `pump` until `signal` is aborted: immediately again while it returns true, otherwise on `wake` and at
 * least once a second. After an error the next call follows in one second.
 */
export function startPumpLoop(
  pump: () => Promise<boolean>,
  { signal, onError }: { signal: AbortSignal; onError(error: unknown): void },
) {
  const pause = (ms: number) => wait(ms, undefined, { signal }).catch(() => {});
  let wake = () => {};
  signal.addEventListener("abort", () => wake(), { once: true });
  const run = async () => {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      try {
        if (await pump()) continue;
      } catch (error) {
        onError(error);
        await pause(errorDelayMs);
        continue;
      }
      if (signal.aborted) return;
      const poll = setTimeout(wake, pollMs);
      await woken;
      clearTimeout(poll);
    }
  };
  return {
    /** Signals that work may be due. Cheap to call often. */
    wake: () => wake(),
    /** Resolves after the loop has stopped. */
    done: run(),
  };
}
