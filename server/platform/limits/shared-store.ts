import { Ratelimit } from "@upstash/ratelimit";
import type { Redis } from "@upstash/redis";
import type { Count } from "./in-process";
import { judgedAtMs, secondsUntilItPasses, WINDOW_MS } from "./sliding-window";

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
      prefix: prefixOf(limit),
      ephemeralCache: false,
      timeout: 0,
      enableTelemetry: false,
    });
    limiters.set(limit, limiter);
    return limiter;
  }

  /** The script does not return the counts of a rejected request, so they are read with a second call. */
  async function readWait(counter: string, limit: number, nowMs: number): Promise<number> {
    const minute = Math.floor(nowMs / WINDOW_MS);
    const keys = [minute - 1, minute].map((each) => `${prefixOf(limit)}:${counter}:${each}`);
    const [previous, current] = await redis.mget<(number | null)[]>(...keys);
    return secondsUntilItPasses({ previous: Number(previous), current: Number(current) }, limit, nowMs);
  }

  async function count(counter: string, limit: number, allowed: boolean, result: Result): Promise<Count> {
    // The URL can belong to a server that is not Redis and responds with 200 to every request.
    if (result.limit !== limit || !Number.isInteger(result.remaining))
      throw new Error("the store's reply is not a result of the limiter's script");
    const retryAfterSeconds = allowed ? 0 : await readWait(counter, limit, Date.now());
    return { allowed, remaining: result.remaining, resetAtMs: result.reset, retryAfterSeconds };
  }

  let turn: Promise<void> | undefined;
  /** The client sends what is asked at one moment together: here, what one turn of the event loop read. */
  const endOfTurn = (): Promise<void> => {
    turn ??= new Promise((resolve) =>
      setImmediate(() => {
        turn = undefined;
        resolve();
      }),
    );
    return turn;
  };

  return {
    async take(counter: string, limit: number): Promise<Count> {
      await endOfTurn();
      const result = await limiterOf(limit).limit(counter);
      return count(counter, limit, result.success, result);
    },
    async peek(counter: string, limit: number): Promise<Count> {
      const result = await limiterOf(limit).getRemaining(counter);
      return count(counter, limit, result.remaining > 0, result);
    },
    close,
  };
}

type Result = { remaining: number; reset: number; limit: number };

const prefixOf = (limit: number): string => `backstamp:limit:${limit}`;

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
