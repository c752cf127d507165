import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { STORE_PAUSE_MS } from "#server/platform/limits/fallback";
import { createLimits, type LimitStore, type Limits } from "#server/platform/limits/limits";
import { closeAfterTest } from "../../support/fixtures";
import { type RedisServer, redisMissing, startRedis } from "../../support/processes/redis";
import { HANG, startSmtpTestServer } from "../../support/servers/smtp-test-server";
import {
  type Fault,
  startUpstashTestServer,
  type UpstashTestServer,
} from "../../support/servers/upstash-test-server";
import { type RecordedLog, recordedLog } from "./recorded-log";

const minuteMs = 60_000;
const someMinute = Date.UTC(2030, 0, 1, 12, 0);
const withoutRedis = redisMissing === null ? "" : ` (skipped: ${redisMissing})`;

/** For faults that respond: a busy machine can need long for a response. */
const unlimitedMs = 2_000_000;
/** A port on which no process listens, and which fetch does not reject. */
const closedPort = 2;

let log: RecordedLog;
let redis: RedisServer;
let front: UpstashTestServer;

beforeAll(async () => {
  if (redisMissing !== null) return;
  redis = await startRedis();
  front = await startUpstashTestServer(redis.url);
});
afterAll(async () => {
  await front?.stop();
  await redis?.stop();
});
beforeEach(async () => {
  log = recordedLog();
  front?.setFault(null);
  await redis?.client.flushall();
  vi.useFakeTimers({ toFake: ["Date"], now: someMinute });
});
afterEach(() => {
  vi.useRealTimers();
});

function open(store: LimitStore, storeTimeoutMs?: number): Limits {
  const limits = createLimits({ store, clock: () => Date.now(), log, storeTimeoutMs });
  onTestFinished(() => limits.close());
  return limits;
}

const upstash = ({ url, token }: { url: string; token: string }): LimitStore => ({
  kind: "upstash",
  url,
  token,
});

const outages = () => log.lines.filter(({ event }) => event === "limits.store_unreachable");
const recoveries = () => log.lines.filter(({ event }) => event === "limits.store_recovered");

const elapse = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** Calls until the store responds again, each time as if its pause had ended. */
async function untilRecovered(limits: Limits): Promise<void> {
  while (recoveries().length === 0) {
    elapse(STORE_PAUSE_MS);
    await limits.take("probe", "other", 1_000_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The guarantees for any fault of the store. */
async function expectLocalLimits(limits: Limits, reason: RegExp): Promise<void> {
  expect(await limits.take("key", "other", 3)).toEqual({
    allowed: true,
    limit: 3,
    remaining: 2,
    resetAtMs: (Math.floor(Date.now() / minuteMs) + 1) * minuteMs,
    retryAfterSeconds: 0,
  });
  expect((await limits.take("key", "other", 3)).remaining).toBe(1);
  expect((await limits.peek("key", "other", 3)).remaining).toBe(1);
  expect((await limits.take("key", "other", 3)).remaining).toBe(0);
  const refused = await limits.take("key", "other", 3);
  expect(refused).toMatchObject({ allowed: false, limit: 3, remaining: 0 });
  expect(outages()).toEqual([
    {
      event: "limits.store_unreachable",
      facts: { store: expect.any(String), reason: expect.stringMatching(reason) },
    },
  ]);
  elapse(refused.retryAfterSeconds * 1_000);
  expect((await limits.take("key", "other", 3)).allowed).toBe(true);
}

describe("a store that is not reachable", () => {
  const of = (kind: "redis" | "upstash", port: number): LimitStore =>
    kind === "redis"
      ? { kind, url: `redis://127.0.0.1:${port}` }
      : { kind, url: `http://127.0.0.1:${port}`, token: "t" };

  test.each(["redis", "upstash"] as const)(
    "a %s that refuses connections is replaced by the in-process store",
    async (kind) => {
      await expectLocalLimits(open(of(kind, closedPort), unlimitedMs), /ECONNREFUSED/);
    },
  );

  test.each(["redis", "upstash"] as const)(
    "a %s that accepts connections and never responds is replaced by the in-process store",
    async (kind) => {
      const peer = closeAfterTest(await startSmtpTestServer({ greeting: HANG }));
      await expectLocalLimits(open(of(kind, peer.port)), /no answer within 250 ms|timeout/);
    },
  );

  test("an outage is logged once a minute, with the reason and no address", async () => {
    const limits = open({ kind: "redis", url: `redis://:secret@127.0.0.1:${closedPort}` });
    for (let second = 0; second <= 180; second += 5) {
      vi.setSystemTime(someMinute + second * 1_000);
      await limits.take("key-of-somebody", "other", 1_000);
    }
    expect(outages()).toHaveLength(4);
    expect(JSON.stringify(log.lines)).not.toMatch(/secret|key-of-somebody/);
  });
});

describe.runIf(redisMissing === null)(`a Redis with a fault${withoutRedis}`, () => {
  test("frozen: falls back, and is used again once it responds", async () => {
    const limits = open({ kind: "redis", url: redis.url });
    redis.freeze();
    await expectLocalLimits(limits, /no answer within 250 ms/);
    redis.thaw();
    await untilRecovered(limits);
    expect(recoveries()).toEqual([{ event: "limits.store_recovered", facts: { store: "redis" } }]);
  });

  test("out of memory: falls back, and is used again once it has memory", async () => {
    await redis.client.config("SET", "maxmemory", "1");
    const limits = open({ kind: "redis", url: redis.url }, unlimitedMs);
    await expectLocalLimits(limits, /OOM/);
    await redis.client.config("SET", "maxmemory", "0");
    await untilRecovered(limits);
  });

  test("an overwritten counter falls back alone, other counters do not", async () => {
    const limits = open({ kind: "redis", url: redis.url }, unlimitedMs);
    const reader = open({ kind: "redis", url: redis.url }, unlimitedMs);
    await limits.take("broken", "other", 3);
    const [key = ""] = await redis.client.keys("*broken*");
    await redis.client.del(key);
    await redis.client.hset(key, "field", "value");
    for (const remaining of [2, 1, 0]) {
      expect(await limits.take("broken", "other", 3)).toMatchObject({ allowed: true, remaining });
    }
    expect((await limits.take("broken", "other", 3)).allowed).toBe(false);
    expect(outages().map(({ facts }) => facts.reason)).toEqual([expect.stringContaining("WRONGTYPE")]);
    await limits.take("whole", "other", 3);
    expect((await reader.peek("whole", "other", 3)).remaining).toBe(2);
  });

  test("requiring a password: falls back without it, and not with it", async () => {
    await redis.client.config("SET", "requirepass", "secret");
    onTestFinished(async () => void (await redis.client.config("SET", "requirepass", "")));
    await expectLocalLimits(open({ kind: "redis", url: redis.url }, unlimitedMs), /NOAUTH/);
    log = recordedLog();
    const limits = open({ kind: "redis", url: redis.url.replace("//", "//:secret@") }, unlimitedMs);
    expect((await limits.take("key", "other", 3)).remaining).toBe(2);
    expect(outages()).toEqual([]);
  });

  test("killed: falls back, and is used again once it is started", async () => {
    const limits = open({ kind: "redis", url: redis.url }, unlimitedMs);
    await limits.take("before", "other", 3);
    await redis.kill();
    await expectLocalLimits(limits, /./);
    await redis.restart();
    await untilRecovered(limits);
    await limits.take("after", "other", 3);
    const other = open({ kind: "redis", url: redis.url }, unlimitedMs);
    expect((await other.peek("after", "other", 3)).remaining).toBe(2);
  });
});

describe.runIf(redisMissing === null)(`an Upstash with a fault${withoutRedis}`, () => {
  const quota = JSON.stringify({
    error: "ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.",
  });
  const faults: [string, Fault, RegExp][] = [
    ["answering 502 in HTML", { kind: "answer", status: 502, body: "<h1>Bad Gateway</h1>" }, /parse/],
    [
      "answering 429, its quota used up",
      { kind: "answer", status: 429, body: quota },
      /max daily request limit/,
    ],
    ["answering 200 in HTML", { kind: "answer", status: 200, body: "<h1>Welcome</h1>" }, /parse/],
    ["answering an empty object", { kind: "answer", status: 200, body: "{}" }, /./],
    [
      "responding with another command's result",
      { kind: "answer", status: 200, body: '[{"result":"OK"}]' },
      /not a result of the limiter/,
    ],
  ];

  test.each(faults)("%s: falls back, and is used again afterwards", async (_, fault, reason) => {
    const limits = open(upstash(front), unlimitedMs);
    front.setFault(fault);
    await expectLocalLimits(limits, reason);
    front.setFault(null);
    await untilRecovered(limits);
    expect(recoveries()).toEqual([{ event: "limits.store_recovered", facts: { store: "upstash" } }]);
  });

  test("rejecting the token: falls back, and the log has the reason without the token", async () => {
    const limits = open(upstash({ url: front.url, token: "not-the-token" }), unlimitedMs);
    await expectLocalLimits(limits, /WRONGPASS/);
    expect(JSON.stringify(log.lines)).not.toContain("not-the-token");
  });

  test("while it is paused nothing is sent, and after the pause one request alone tries", async () => {
    const limits = open(upstash(front), unlimitedMs);
    const before = front.requests();
    const sent = () => front.requests() - before;
    front.setFault({ kind: "answer", status: 500, body: "{}" });
    await limits.take("key", "other", 1_000);
    expect(sent()).toBe(1);
    for (let call = 0; call < 50; call++) await limits.take("key", "other", 1_000);
    elapse(STORE_PAUSE_MS - 1);
    await limits.take("key", "other", 1_000);
    expect(sent()).toBe(1);
    elapse(1);
    await Promise.all(Array.from({ length: 50 }, () => limits.take("key", "other", 1_000)));
    expect(sent()).toBe(2);
  });

  test("a clock that is set back an hour does not keep it paused", async () => {
    const limits = open(upstash(front), unlimitedMs);
    front.setFault({ kind: "answer", status: 500, body: "{}" });
    await limits.take("key", "other", 3);
    front.setFault(null);
    elapse(-3_600_000);
    await limits.take("key", "other", 3);
    expect(recoveries()).toHaveLength(1);
  });
});

test("each request that this process counts instead of the store is reported for the metrics", async () => {
  let fallbacks = 0;
  const openCounted = (store: LimitStore) => {
    const limits = createLimits({ store, clock: () => Date.now(), log, onFallback: () => fallbacks++ });
    onTestFinished(() => limits.close());
    return limits;
  };
  await openCounted({ kind: "in-process" }).take("key", "other", 3);
  expect(fallbacks).toBe(0);
  const away = openCounted({ kind: "redis", url: `redis://127.0.0.1:${closedPort}` });
  await away.take("key", "other", 3);
  await away.peek("key", "other", 3);
  expect(fallbacks).toBe(2);
});
