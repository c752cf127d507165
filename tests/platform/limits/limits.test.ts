import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createLimits, type LimitStore, type Limits, type Verdict } from "#server/platform/limits/limits";
import { type RedisServer, redisMissing, startRedis } from "../../support/processes/redis";
import { startUpstashTestServer, type UpstashTestServer } from "../../support/servers/upstash-test-server";
import { type RecordedLog, recordedLog } from "./recorded-log";

const minuteMs = 60_000;
/** A busy machine can need long for many concurrent requests. */
const unlimitedMs = 2_000_000;
const someMinute = Date.UTC(2030, 0, 1, 12, 0);

let redis: RedisServer;
let front: UpstashTestServer;
let log: RecordedLog;
let opened: Limits[] = [];

beforeAll(async () => {
  if (redisMissing !== null) return;
  redis = await startRedis();
  front = await startUpstashTestServer(redis.url);
});

afterAll(async () => {
  await front?.stop();
  await redis?.stop();
});

beforeEach(() => {
  log = recordedLog();
  vi.useFakeTimers({ toFake: ["Date"], now: someMinute + 20_000 });
});

afterEach(async () => {
  for (const limits of opened) await limits.close();
  opened = [];
  vi.useRealTimers();
  // A verdict of the fallback would look like one of the store.
  expect(log.lines).toEqual([]);
});

function open(store: LimitStore): Limits {
  const limits = createLimits({ store, clock: () => Date.now(), log, storeTimeoutMs: unlimitedMs });
  opened.push(limits);
  return limits;
}

let bucketsMade = 0;
const newBucket = () => `key-${++bucketsMade}`;

const times = async (count: number, call: () => Promise<Verdict>): Promise<Verdict[]> =>
  Promise.all(Array.from({ length: count }, call));

const passed = (verdicts: Verdict[]) => verdicts.filter(({ allowed }) => allowed).length;

type Case = { name: string; store: () => LimitStore; isShared: boolean; runs: number };

const cases: Case[] = [
  { name: "in process", store: () => ({ kind: "in-process" }), isShared: false, runs: 60 },
  { name: "Redis over TCP", store: () => ({ kind: "redis", url: redis.url }), isShared: true, runs: 15 },
  {
    name: "Upstash over REST",
    store: () => ({ kind: "upstash", url: front.url, token: front.token }),
    isShared: true,
    runs: 10,
  },
];

for (const { name, store, isShared, runs } of cases) {
  const isMissing = isShared && redisMissing !== null;

  describe.runIf(!isMissing)(isMissing ? `${name} (skipped: ${redisMissing})` : name, () => {
    test("buckets are separate, and so are the tiers of one bucket", async () => {
      const limits = open(store());
      const [ann, ben] = [newBucket(), newBucket()];
      expect(passed(await times(3, () => limits.take(ann, "POST /api/emails", 2)))).toBe(2);
      expect(passed(await times(3, () => limits.take(ben, "POST /api/emails", 2)))).toBe(2);
      expect(passed(await times(3, () => limits.take(ann, "GET /api/emails", 2)))).toBe(2);
      expect(passed(await times(3, () => limits.take(ann, "other", 2)))).toBe(2);
    });

    test("a client that obeys gets 95 % of its limit over ten minutes, whatever the moment of its first call", async () => {
      const limits = open(store());
      const limit = isShared ? 20 : 100;
      for (const firstMs of isShared ? [31_700] : [0, 31_700, 59_999]) {
        const bucket = newBucket();
        let allowed = 0;
        for (let nowMs = someMinute + firstMs; nowMs < someMinute + firstMs + 10 * minuteMs; ) {
          vi.setSystemTime(nowMs);
          const verdict = await limits.take(bucket, "other", limit);
          if (verdict.allowed) allowed += 1;
          nowMs += verdict.allowed ? 10 : verdict.retryAfterSeconds * 1_000;
        }
        expect(allowed).toBeGreaterThanOrEqual(limit * 9.5);
      }
    });

    test("retryAfterSeconds also holds after the operator lowers the limit", async () => {
      const limits = open(store());
      const bucket = newBucket();
      await times(60, () => limits.take(bucket, "other", 60));
      const verdicts = await times(11, () => limits.take(bucket, "other", 10));
      expect(passed(verdicts)).toBe(10);
      const refused = verdicts.find(({ allowed }) => !allowed);
      vi.setSystemTime(Date.now() + (refused?.retryAfterSeconds ?? 0) * 1_000);
      expect(await limits.take(bucket, "other", 10)).toMatchObject({ allowed: true, limit: 10 });
    });

    test("after close it counts in this process", async () => {
      const limits = open(store());
      const bucket = newBucket();
      await limits.close();
      expect(passed(await times(3, () => limits.take(bucket, "other", 2)))).toBe(2);
    });

    test("any sequence of requests matches the model, and a rejected request is allowed after its wait", async () => {
      const limits = open(store());
      await fc.assert(
        fc.asyncProperty(limitArbitrary, fc.array(stepArbitrary, { maxLength: 10 }), async (limit, steps) => {
          const bucket = newBucket();
          const model = createModel(limit);
          const take = () => limits.take(bucket, "other", limit);
          vi.setSystemTime(someMinute);
          for (const step of steps) {
            vi.setSystemTime(moved(Date.now(), step.move));
            expect(await limits.peek(bucket, "other", limit)).toEqual(model.judge(Date.now(), 0));
            const verdicts = await times(Math.ceil(limit * step.share), take);
            const byRemaining = (a: Verdict, b: Verdict) =>
              Number(b.allowed) - Number(a.allowed) || b.remaining - a.remaining;
            expect(verdicts.sort(byRemaining)).toEqual(verdicts.map(() => model.judge(Date.now(), 1)));
            const refused = verdicts.find(({ allowed }) => !allowed);
            if (!refused || !step.isRetried) continue;
            vi.setSystemTime(Date.now() + refused.retryAfterSeconds * 1_000);
            const again = await take();
            expect(again.allowed).toBe(true);
            expect(again).toEqual(model.judge(Date.now(), 1));
          }
        }),
        { numRuns: runs, seed: 1 },
      );
    });

    if (!isShared) return;

    test("two limiters with one store share the count", async () => {
      const [one, two] = [open(store()), open(store())];
      const bucket = newBucket();
      const verdicts = await Promise.all([
        times(60, () => one.take(bucket, "POST /api/emails", 50)),
        times(60, () => two.take(bucket, "POST /api/emails", 50)),
      ]);
      expect(passed(verdicts.flat())).toBe(50);
      expect((await one.peek(bucket, "POST /api/emails", 50)).allowed).toBe(false);
    });

    test("a store that lost its scripts gets them again without an error", async () => {
      const limits = open(store());
      const bucket = newBucket();
      await limits.take(bucket, "other", 2);
      await redis.client.script("FLUSH");
      expect((await limits.take(bucket, "other", 2)).allowed).toBe(true);
      expect((await limits.take(bucket, "other", 2)).allowed).toBe(false);
    });

    test("the store deletes a counter once its minute no longer counts", async () => {
      const limits = open(store());
      const bucket = newBucket();
      await limits.take(bucket, "other", 2);
      await limits.take(bucket, "other", 2);
      const keys = await redis.client.keys(`*${bucket}:*`);
      expect(keys).toHaveLength(1);
      const countsForMs = await redis.client.pttl(keys[0] ?? "");
      expect(countsForMs).toBeGreaterThan(minuteMs);
      expect(countsForMs).toBeLessThanOrEqual(2 * minuteMs + 1_000);
    });
  });
}

describe.runIf(redisMissing === null)("Redis and Upstash over one database", () => {
  test("a process with TCP and one with REST share the count", async () => {
    const tcp = open({ kind: "redis", url: redis.url });
    const rest = open({ kind: "upstash", url: front.url, token: front.token });
    const bucket = newBucket();
    const verdicts = await Promise.all([
      times(60, () => tcp.take(bucket, "other", 100)),
      times(60, () => rest.take(bucket, "other", 100)),
    ]);
    expect(passed(verdicts.flat())).toBe(100);
  });
});

const limitArbitrary = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 20 }) },
  { weight: 1, arbitrary: fc.integer({ min: 21, max: 200 }) },
);

/** The time of the next calls: relative to the last ones, or to the end of their minute. */
type Move = { afterMs: number } | { afterMinuteMs: number };
type Step = { move: Move; share: number; isRetried: boolean };

function moved(nowMs: number, move: Move): number {
  if ("afterMs" in move) return nowMs + move.afterMs;
  return Math.max(nowMs, (Math.floor(nowMs / minuteMs) + 1) * minuteMs + move.afterMinuteMs);
}

const moveArbitrary: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ afterMs: fc.integer({ min: 0, max: 130_000 }) }),
  fc.record({ afterMs: fc.constantFrom(0, 1, 999, 1_000, minuteMs - 1, minuteMs, minuteMs + 1) }),
  fc.record({ afterMinuteMs: fc.constantFrom(-1, 0, 1, 2) }),
);

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  move: moveArbitrary,
  share: fc.constantFrom(0, 0.05, 0.3, 0.5, 1, 1.2),
  isRetried: fc.boolean(),
});

/** A model of the limiter: the accepted calls of each minute. `cost` 0 does not count. */
function createModel(limit: number) {
  const passed = new Map<number, number>();
  const passedIn = (minute: number) => passed.get(minute) ?? 0;
  const leftAt = (nowMs: number) => {
    const minute = Math.floor(nowMs / minuteMs);
    const intoMinuteMs = Math.max(1, nowMs - minute * minuteMs);
    return limit - Math.floor((1 - intoMinuteMs / minuteMs) * passedIn(minute - 1)) - passedIn(minute);
  };
  return {
    judge(nowMs: number, cost: 0 | 1): Verdict {
      const minute = Math.floor(nowMs / minuteMs);
      const left = leftAt(nowMs);
      const allowed = left > 0;
      if (allowed && cost > 0) passed.set(minute, passedIn(minute) + 1);
      let retryAfterSeconds = 0;
      if (!allowed)
        do retryAfterSeconds++;
        while (leftAt(nowMs + retryAfterSeconds * 1_000) <= 0);
      const resetAtMs = (minute + 1) * minuteMs;
      return { allowed, limit, remaining: allowed ? left - cost : 0, resetAtMs, retryAfterSeconds };
    },
  };
}
