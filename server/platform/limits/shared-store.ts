import { Ratelimit } from "@upstash/ratelimit";
import type { Redis } from "@upstash/redis";
import type { Count } from "./in-process";
import { judgedAtMs } from "./sliding-window";

export type SharedStore = ReturnType<typeof createSharedStore>;

const limitersMax = 1_000;

/**
 * A store that several processes share. It can fail or be slow; `judgeWithFallback` handles both. It is
 * `@upstash/ratelimit` with the given client, which uses REST for Upstash or TCP for Redis. Its clock is this
 * host's `Date.now()`. Redis's own clock only expires old counters.
 *
 * Two options of the library must stay off. Its timeout allows requests without counting them. Its
 * `ephemeralCache` rejects a bucket until the end of the minute even if its weighted window allows requests
 * again, rejects it also in the first millisecond after that, and never deletes the entry of a bucket without
 * further requests.
 */
export function createSharedStore(redis: Redis, close: () => void) {
  redis.use((request, next) => next({ ...request, body: adjustTimes(request.body) }));
  const limiters = new Map<number, Ratelimit>();

  function limiterOf(limit: number): Ratelimit {
    const known = limiters.get(limit);
    if (known) return known;
    if (limiters.size >= limitersMax) limiters.clear();
    const limiter = new Ratelimit({
      redis,
      limiter: Ratelimit.slidingWindow(limit, "60 s"),
      prefix: `backstamp:limit:${limit}`,
      ephemeralCache: false,
      timeout: 0,
      enableTelemetry: false,
    });
    limiters.set(limit, limiter);
    return limiter;
  }

  return {
    async take(counter: string, limit: number): Promise<Count> {
      const result = await limiterOf(limit).limit(counter);
      return toCount(result.success, result, limit);
    },
    async peek(counter: string, limit: number): Promise<Count> {
      const result = await limiterOf(limit).getRemaining(counter);
      return toCount(result.remaining > 0, result, limit);
    },
    close,
  };
}

// The URL can belong to a server that is not Redis and responds with 200 to every request.
function toCount(
  allowed: boolean,
  result: { remaining: number; reset: number; limit: number },
  limit: number,
): Count {
  if (result.limit !== limit || !Number.isInteger(result.remaining)) {
    throw new Error("the store's reply is not a result of the limiter's script");
  }
  return { allowed, remaining: result.remaining, resetAtMs: result.reset };
}

function adjustTimes(body: unknown): unknown {
  if (!Array.isArray(body)) return body;
  return Array.isArray(body[0]) ? body.map(adjustTime) : adjustTime(body);
}

/**
 * Moves the time in a script call off the first millisecond of a minute. A call is [verb, script, number of
 * keys, ...keys, limit, now, window, ...]. The key names stay correct, because the minute does not change.
 */
function adjustTime(command: unknown[]): unknown[] {
  const [verb, , keys] = command;
  if ((verb !== "eval" && verb !== "evalsha") || typeof keys !== "number") return command;
  const nowAt = 3 + keys + 1;
  const now = command[nowAt];
  return typeof now === "number" ? command.with(nowAt, judgedAtMs(now)) : command;
}
