import { Ratelimit } from "@upstash/ratelimit";
import type { Redis } from "@upstash/redis";
import type { Count } from "./in-process";
import { judgedAtMs } from "./sliding-window";

/** A store which several processes share. It may reject and it may be late: `judgeWithFallback` answers for both. */
export type SharedStore = {
  take(counter: string, limit: number): Promise<Count>;
  peek(counter: string, limit: number): Promise<Count>;
  close(): void;
};

const limitersMax = 1_000;

/**
 * `@upstash/ratelimit` over the given client, which speaks REST to Upstash or TCP to a Redis. Its clock is this host's
 * `Date.now()`; Redis's own clock serves only to drop old counters.
 *
 * Of the library's options two stay off on purpose. Its timeout lets a call pass uncounted. Its `ephemeralCache` refuses until
 * the end of the minute a bucket whose weighted window has room again, refuses in the first millisecond after it too, and
 * never forgets a bucket that does not come back.
 */
export function createSharedStore(redis: Redis, close: () => void): SharedStore {
  redis.use((request, next) => next({ ...request, body: judgeCommands(request.body) }));
  const limiters = new Map<number, Ratelimit>();

  function limiterOf(limit: number): Ratelimit {
    const known = limiters.get(limit);
    if (known) return known;
    if (limiters.size >= limitersMax) limiters.clear();
    const limiter = new Ratelimit({
      redis,
      limiter: Ratelimit.slidingWindow(limit, "60 s"),
      prefix: `posthorn:limit:${limit}`,
      ephemeralCache: false,
      timeout: 0,
      enableTelemetry: false,
    });
    limiters.set(limit, limiter);
    return limiter;
  }

  return {
    async take(counter, limit) {
      const answer = await limiterOf(limit).limit(counter);
      return toCount(answer.success, answer, limit);
    },
    async peek(counter, limit) {
      const answer = await limiterOf(limit).getRemaining(counter);
      return toCount(answer.remaining > 0, answer, limit);
    },
    close,
  };
}

// Something that is not a Redis may stand at the address and answer 200 to everything.
function toCount(
  allowed: boolean,
  answer: { remaining: number; reset: number; limit: number },
  limit: number,
): Count {
  if (answer.limit !== limit || !Number.isInteger(answer.remaining)) {
    throw new Error("the store's answer is not that of the limiter's script");
  }
  return { allowed, remaining: answer.remaining, resetAtMs: answer.reset };
}

function judgeCommands(body: unknown): unknown {
  if (!Array.isArray(body)) return body;
  return Array.isArray(body[0]) ? body.map(judgeCommand) : judgeCommand(body);
}

/**
 * Moves the time in a script call off the first millisecond of a minute. A call is [verb, script, number of keys, ...keys,
 * limit, now, window, ...]. The names of the keys stay right, because the minute is the same.
 */
function judgeCommand(command: unknown[]): unknown[] {
  const [verb, , keys] = command;
  if ((verb !== "eval" && verb !== "evalsha") || typeof keys !== "number") return command;
  const nowAt = 3 + keys + 1;
  const now = command[nowAt];
  return typeof now === "number" ? command.with(nowAt, judgedAtMs(now)) : command;
}
