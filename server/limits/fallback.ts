import type { Log } from "#server/log";
import type { Count, InProcessStore } from "./in-process";
import type { SharedStore } from "./shared-store";

/** What a request waits for the store. 50 ms less than the 300 ms which a limit may add, for timers that fire late. */
export const STORE_TIMEOUT_MS = 250;
/** After a failure the store is left alone for this long; then one request tries it, and the others still do not wait. */
export const STORE_PAUSE_MS = 2_000;
const logIntervalMs = 60_000;

export type FallbackOptions = {
  name: string;
  shared: SharedStore;
  local: InProcessStore;
  timeoutMs: number;
  clock: () => number;
  log: Log;
};

export type Judge = (verb: "take" | "peek", counter: string, limit: number) => Promise<Count>;

/**
 * Asks the shared store and, where it refuses, hangs, errs or is slow, the one in this process. Never rejects. A failure is
 * logged as `limits.store_unreachable` at most once a minute, and its end as `limits.store_recovered`.
 */
export function judgeWithFallback(options: FallbackOptions): Judge {
  const { name, shared, local, timeoutMs, clock, log } = options;
  let pausedAtMs: number | undefined;
  let loggedAtMs: number | undefined;
  let isOutageLogged = false;

  // A clock that was set back has said nothing about the time that passed.
  const isWithin = (sinceMs: number | undefined, spanMs: number) =>
    sinceMs !== undefined && clock() >= sinceMs && clock() - sinceMs < spanMs;

  function recordFailure(error: unknown): void {
    const reason = describe(error);
    // One counter overwritten by somebody else is no reason to give up the others.
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

  return async (verb, counter, limit) => {
    if (isWithin(pausedAtMs, STORE_PAUSE_MS)) return local[verb](counter, limit);
    // Past the pause this request is the one that tries.
    if (pausedAtMs !== undefined) pausedAtMs = clock();
    try {
      const count = await within(timeoutMs, shared[verb](counter, limit));
      recordSuccess();
      return count;
    } catch (error) {
      recordFailure(error);
      return local[verb](counter, limit);
    }
  };
}

async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const lateness = new Promise<never>((_, reject) => {
    // A process that was busy runs its timers before it reads its sockets: an answer that lies there already still counts.
    timer = setTimeout(
      () => setImmediate(() => reject(new Error(`no answer within ${timeoutMs} ms`))),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([answer, lateness]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The store's reason: what lies under the "fetch failed" of a connection, and without the command, which the Upstash client
 * appends to an error and which names keys.
 */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const root = error.message === "fetch failed" && error.cause instanceof Error ? error.cause : error;
  const text = root.message || ("code" in root ? String(root.code) : root.name);
  return (text.split(", command was:")[0] ?? text).slice(0, 200);
}
