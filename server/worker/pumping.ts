import { setTimeout as wait } from "node:timers/promises";

/** The net below the notifications: a lost one costs this much. */
const pollMs = 1_000;
const idleAfterFaultMs = 1_000;

export type Pumping = {
  /** Something may be due. Cheap to call often. */
  rouse(): void;
  /** Settles once it is stopped. */
  done: Promise<void>;
};

export type PumpingOptions = {
  signal: AbortSignal;
  onFault(error: unknown): void;
};

/**
 * Pumps until stopped: again at once while it says that there may be more, else when roused, and once a second beside. A pump
 * that throws is tried again after a second.
 */
export function startPumping(pump: () => Promise<boolean>, options: PumpingOptions): Pumping {
  const { signal, onFault } = options;
  const pause = (ms: number) => wait(ms, undefined, { signal }).catch(() => {});
  let rouse = () => {};
  signal.addEventListener("abort", () => rouse(), { once: true });
  const run = async () => {
    while (!signal.aborted) {
      const roused = new Promise<void>((resolve) => {
        rouse = resolve;
      });
      try {
        if (await pump()) continue;
      } catch (error) {
        onFault(error);
        await pause(idleAfterFaultMs);
        continue;
      }
      if (signal.aborted) return;
      const poll = setTimeout(rouse, pollMs);
      await roused;
      clearTimeout(poll);
    }
  };
  return { rouse: () => rouse(), done: run() };
}
