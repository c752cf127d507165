import { Redis } from "@upstash/redis";
import type { Log } from "#server/log";
import { judgeWithFallback, STORE_TIMEOUT_MS } from "./fallback";
import { type Count, createInProcessStore } from "./in-process";
import { createTcpClient } from "./redis-tcp";
import { createSharedStore, type SharedStore } from "./shared-store";
import { secondsUntilItPasses } from "./sliding-window";

/** The classes of endpoints which have a bucket each; `other` is one bucket for all the rest. */
export type Tier = "POST /api/emails" | "GET /api/emails" | "POST /api/templates" | "other";

/** Requests per minute; a key may carry the operator's own numbers instead. */
export const LIMIT_PER_MINUTE: Record<Tier, number> = {
  "POST /api/emails": 100,
  "GET /api/emails": 300,
  "POST /api/templates": 60,
  other: 60,
};

export type Verdict = {
  allowed: boolean;
  /** The limit in force, in requests a minute. */
  limit: number;
  /** Calls that would still pass at this moment, this one already taken off. */
  remaining: number;
  /** The end of the clock minute in which the call was judged, in milliseconds since the epoch. */
  resetAtMs: number;
  /** 0 when allowed; else 1 to 60, and after that many seconds the call passes (`sliding-window.ts` says why). */
  retryAfterSeconds: number;
};

/**
 * Counts calls per bucket and tier in a sliding minute. `bucket` is a key's id or an address bucket; `limitPerMinute` is the
 * number in force, a whole number of at least 1. Neither call ever rejects, and neither adds more than 300 ms: without its
 * store the limiter counts in this process.
 */
export type Limits = {
  /** Judges one call, and counts it when it is allowed. */
  take(bucket: string, tier: Tier, limitPerMinute: number): Promise<Verdict>;
  /** Judges without counting, for responses which are never refused but carry the headers. */
  peek(bucket: string, tier: Tier, limitPerMinute: number): Promise<Verdict>;
  /** Lets go of the store's connection. Calls after it are counted in this process. */
  close(): Promise<void>;
};

export type LimitStore =
  | { kind: "in-process" }
  | { kind: "redis"; url: string }
  | { kind: "upstash"; url: string; token: string };

export type LimitsOptions = {
  store: LimitStore;
  /** Milliseconds since the epoch. With a shared store it must be the host's clock, which the Upstash library reads. */
  clock: () => number;
  log: Log;
  /** What a request waits for a shared store before this process judges it. */
  storeTimeoutMs?: number;
};

/** One algorithm in three stores. All instances over one Redis or Upstash database share their counts. */
export function createLimits(options: LimitsOptions): Limits {
  const { store, clock, log, storeTimeoutMs: timeoutMs = STORE_TIMEOUT_MS } = options;
  const local = createInProcessStore(clock);
  const shared = openSharedStore(store, timeoutMs);
  const judgeShared = shared && judgeWithFallback({ name: store.kind, shared, local, timeoutMs, clock, log });
  let isClosed = false;

  async function judge(verb: "take" | "peek", bucket: string, tier: Tier, limit: number): Promise<Verdict> {
    const counter = `${tier}:${bucket}`;
    const count =
      judgeShared && !isClosed ? await judgeShared(verb, counter, limit) : local[verb](counter, limit);
    return toVerdict(count, limit, clock());
  }

  return {
    take: (bucket, tier, limitPerMinute) => judge("take", bucket, tier, limitPerMinute),
    peek: (bucket, tier, limitPerMinute) => judge("peek", bucket, tier, limitPerMinute),
    async close() {
      isClosed = true;
      shared?.close();
    },
  };
}

function openSharedStore(store: LimitStore, timeoutMs: number): SharedStore | undefined {
  switch (store.kind) {
    case "in-process":
      return undefined;
    case "redis": {
      const { redis, close } = createTcpClient(store.url);
      return createSharedStore(redis, close);
    }
    case "upstash": {
      const redis = new Redis({
        url: store.url,
        token: store.token,
        retry: false,
        enableTelemetry: false,
        signal: () => AbortSignal.timeout(timeoutMs),
      });
      return createSharedStore(redis, () => undefined);
    }
  }
}

function toVerdict({ allowed, remaining, resetAtMs }: Count, limit: number, nowMs: number): Verdict {
  const retryAfterSeconds = allowed ? 0 : secondsUntilItPasses(resetAtMs, nowMs);
  return { allowed, limit, remaining, resetAtMs, retryAfterSeconds };
}
