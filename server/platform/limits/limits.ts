import type { Tier } from "#server/shared/rate-limits";
import type { Log } from "../log";
import { within } from "../within";
import { describeStoreFault, judgeWithFallback, noAnswer, STORE_TIMEOUT_MS } from "./fallback";
import { type Count, createInProcessStore } from "./in-process";
import type { SharedStore } from "./shared-store";

/** The result of one check, with the effective limit in requests per minute. */
export type Verdict = Count & { limit: number };

export type Limits = ReturnType<typeof createLimits>;

export type LimitStore =
  | { kind: "in-process" }
  | { kind: "redis"; url: string }
  | { kind: "upstash"; url: string; token: string };

export type LimitsOptions = {
  store: LimitStore;
  /**
   * Milliseconds since the epoch. With a shared store it must be the host's clock, which the Upstash library
   * reads.
   */
  clock: () => number;
  log: Log;
  /** How long a request waits for a shared store. After it, the store of this process decides. */
  storeTimeoutMs?: number;
  /** Called for each request that this process counts because the shared store failed. */
  onFallback?: () => void;
};

/**
 * Counts requests per bucket and tier in a sliding minute: one algorithm with three stores. Instances with
 * the same Redis or Upstash database share counts. `bucket` is a key's id or an address bucket. `limit` is
 * the effective limit per minute, an integer of at least 1. The methods never reject and add at most 300 ms:
 * if the store fails, this process counts.
 */
export function createLimits(options: LimitsOptions) {
  const { store, clock, log, onFallback, storeTimeoutMs: timeoutMs = STORE_TIMEOUT_MS } = options;
  const local = createInProcessStore(clock);
  const opening = openSharedStore(store, timeoutMs).then((shared) => ({
    shared,
    judgeShared:
      shared && judgeWithFallback({ name: store.kind, shared, local, timeoutMs, clock, log, onFallback }),
  }));
  let isClosed = false;

  async function judge(verb: "take" | "peek", bucket: string, tier: Tier, limit: number): Promise<Verdict> {
    const counter = `${tier}:${bucket}`;
    const { judgeShared } = await opening;
    const count =
      judgeShared && !isClosed ? await judgeShared(verb, counter, limit) : local[verb](counter, limit);
    return { ...count, limit };
  }

  return {
    /** Checks one request, and counts it if it is allowed. */
    take: judge.bind(null, "take"),
    /** Checks without counting, for responses that are never limited but have the headers. */
    peek: judge.bind(null, "peek"),
    /** Why the shared store cannot be used; null if it can, or there is none. Never rejects. */
    async checkStore(): Promise<string | null> {
      const { shared } = await opening;
      if (!shared || isClosed) return null;
      try {
        await within(shared.peek("other:check", 1), { ms: timeoutMs, fault: () => noAnswer(timeoutMs) });
        return null;
      } catch (error) {
        return describeStoreFault(error);
      }
    },
    /** Closes the store's connection. Later requests are counted in this process. */
    async close(): Promise<void> {
      isClosed = true;
      (await opening).shared?.close();
    },
  };
}

/** Loads the clients of a shared store only where one is configured. */
async function openSharedStore(store: LimitStore, timeoutMs: number): Promise<SharedStore | undefined> {
  if (store.kind === "in-process") return undefined;
  const { createSharedStore } = await import("./shared-store");
  if (store.kind === "redis") {
    const { createTcpClient } = await import("./redis-tcp");
    const { redis, close } = createTcpClient(store.url);
    return createSharedStore(redis, close);
  }
  const { Redis } = await import("@upstash/redis");
  const redis = new Redis({
    url: store.url,
    token: store.token,
    retry: false,
    enableTelemetry: false,
    signal: () => AbortSignal.timeout(timeoutMs),
  });
  return createSharedStore(redis, () => undefined);
}
