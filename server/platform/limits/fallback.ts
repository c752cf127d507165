import type { Log } from "../log";
import { within } from "../within";
import type { Count, InProcessStore } from "./in-process";
import type { SharedStore } from "./shared-store";

/**
 * How long a request waits for the store. 50 ms less than the 300 ms that a limit may add, because timers can
 * fire late.
 */
export const STORE_TIMEOUT_MS = 250;
/**
 * After a failure the store is not used for this time. Then one request tries it, and the others still do not
 * wait.
 */
export const STORE_PAUSE_MS = 2_000;
const logIntervalMs = 60_000;

/**
 * Uses the shared store, and the store in this process if the shared one fails or is slow. Never rejects.
 * Failures are logged as `limits.store_unreachable` at most once per minute, recovery as
 * `limits.store_recovered`.
 */
export function judgeWithFallback(options: {
  name: string;
  shared: SharedStore;
  local: InProcessStore;
  timeoutMs: number;
  clock: () => number;
  log: Log;
  /** Called for each request that the store of this process counts. */
  onFallback?: () => void;
}) {
  const { name, shared, local, timeoutMs, clock, log, onFallback } = options;
  let pausedAtMs: number | undefined;
  let loggedAtMs: number | undefined;
  let isOutageLogged = false;

  // If the clock was set back, the elapsed time is unknown.
  const isWithin = (sinceMs: number | undefined, spanMs: number) =>
    sinceMs !== undefined && clock() >= sinceMs && clock() - sinceMs < spanMs;

  function recordFailure(error: unknown): void {
    const reason = describeStoreFault(error);
    // If another program overwrote one counter, the other counters remain usable.
    if (!reason.includes("WRONGTYPE")) pausedAtMs = clock();
    if (isWithin(loggedAtMs, logIntervalMs)) return;
    loggedAtMs = clock();
    isOutageLogged = true;
    log.warn("limits.store_unreachable", { store: name, reason });
  }

  function recordSuccess(): void {
    pausedAtMs = undefined;
    if (!isOutageLogged) return;
    isOutageLogged = false;
    log.info("limits.store_recovered", { store: name });
  }

  return async (verb: "take" | "peek", counter: string, limit: number): Promise<Count> => {
    const countHere = () => {
      onFallback?.();
      return local[verb](counter, limit);
    };
    if (isWithin(pausedAtMs, STORE_PAUSE_MS)) return countHere();
    // After the pause, this request tries the store and a new pause starts for the others.
    if (pausedAtMs !== undefined) pausedAtMs = clock();
    try {
      const count = await within(shared[verb](counter, limit), {
        ms: timeoutMs,
        fault: () => noAnswer(timeoutMs),
      });
      recordSuccess();
      return count;
    } catch (error) {
      recordFailure(error);
      return countHere();
    }
  };
}

/** Why no reply was received in time. */
export const noAnswer = (timeoutMs: number) => new Error(`no answer within ${timeoutMs} ms`);

/**
 * The reason of a store failure: the cause of "fetch failed" errors, without the command that the Upstash
 * client appends, because it contains key names.
 */
export function describeStoreFault(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const root = error.message === "fetch failed" && error.cause instanceof Error ? error.cause : error;
  const text = root.message || ("code" in root ? String(root.code) : root.name);
  return (text.split(", command was:")[0] ?? text).slice(0, 200);
}
