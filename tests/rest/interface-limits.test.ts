import { afterAll, describe, expect, test } from "vitest";
import type { Tier } from "#server/shared/rate-limits";
import { type CallOptions, callApi } from "../support/rest";
import { openTarget } from "../support/target";
import { CALLS, FAILURES, MANY } from "./interface-calls";
import { EMAIL } from "./test-app";

/**
 * The specification of errors and limits, sentence by sentence. Each test is named after the sentence it
 * checks.
 */

const target = await openTarget();
afterAll(() => target.close());
/** A key with every scope, linked to the built-in domain. */
const { token } = await target.mintKey({ scopes: ["full_access"], limits: MANY });

const call = (method: string, path: string, options?: CallOptions) =>
  callApi(target.baseUrl, method, path, options);

/** Calls count exactly only if they do not cross the end of a minute. */
async function avoidEndOfMinute(neededS: number): Promise<void> {
  const leftS = 60 - (Math.floor(target.nowMs() / 1000) % 60);
  if (leftS <= neededS) await target.pass(leftS + 1);
}

/** A key with one request per minute. */
const mintSmallKey = async (scope: string, tier: Tier): Promise<string> =>
  (await target.mintKey({ scopes: [scope], limits: { [tier]: 1 } })).token;

/** Makes the only request of a small key. */
async function exhaust(token: string, tier: Tier, options: CallOptions = {}): Promise<void> {
  await avoidEndOfMinute(5);
  const [method = "", path = ""] = tier.split(" ");
  expect((await call(method, path, { token, ...options })).status).toBe(200);
}

describe("Errors", () => {
  // Minted before the tests: the second one waits for up to a minute, and the command line needs seconds.
  test.each(FAILURES)(
    "“Error bodies are JSON objects with a string field `error`.” %i",
    async (status, method, path, options) => {
      const reply = await call(method, path, { token, ...options });
      expect(reply.status).toBe(status);
      expect(reply.headers["content-type"]).toMatch(/^application\/json/);
      expect(reply.body.error).toEqual(expect.any(String));
    },
  );

  test("“429 | Rate limit exceeded | { error: Rate limit exceeded, retryAfter: <integer seconds> }” “Clients are advised to retry after retryAfter seconds”: the header Retry-After has the same value", {
    timeout: 90_000,
  }, async () => {
    const small = await mintSmallKey("emails:send", "POST /api/emails");
    const post = () => call("POST", "/api/emails", { token: small, body: EMAIL });
    await exhaust(small, "POST /api/emails", { body: EMAIL });
    const { status, headers, body } = await post();
    expect(status).toBe(429);
    const seconds = Number(headers["retry-after"]);
    expect(body).toEqual({ error: "Rate limit exceeded", retryAfter: seconds });
    expect([seconds >= 1, seconds <= 60, Number.isInteger(seconds)]).toEqual([true, true, true]);
    await target.pass(seconds);
    expect((await post()).status).toBe(200);
  });
});

describe("Limits", () => {
  const callOf = (tier: Tier) => {
    const found = CALLS.find(([each]) => each === tier);
    if (!found) throw new Error(`no call for ${tier}`);
    const [, method, path, body] = found;
    return (token: string) => call(method, path, { token, body });
  };
  /** Expects that further calls of a tier are rejected, and calls of the others are not. */
  async function expectExhausted(tier: Tier, token: string): Promise<void> {
    const beyond = await callOf(tier)(token);
    expect(beyond.status).toBe(429);
    expect(beyond.body).toEqual({ error: "Rate limit exceeded", retryAfter: expect.any(Number) });
    expect(beyond.headers["x-ratelimit-remaining"]).toBe("0");
    for (const [each] of CALLS)
      if (each !== tier) expect((await callOf(each)(token)).status).toBeLessThan(300);
  }

  test.each<[Tier, number]>([
    ["POST /api/emails", 100],
    ["GET /api/emails", 300],
    ["POST /api/templates", 60],
    ["other", 60],
  ])("“%s | %i requests | per minute”", { timeout: 90_000 }, async (tier, limit) => {
    const once = callOf(tier);
    const usual = await target.mintKey({ scopes: ["full_access"] });
    const few = await target.mintKey({ scopes: ["full_access"], limits: { [tier]: 2 } });
    await avoidEndOfMinute(10);
    const { headers } = await once(usual.token);
    expect(headers["x-ratelimit-limit"]).toBe(String(limit));
    expect(headers["x-ratelimit-remaining"]).toBe(String(limit - 1));
    for (const _ of [1, 2]) expect((await once(few.token)).status).toBeLessThan(300);
    await expectExhausted(tier, few.token);
    expect((await once(usual.token)).headers["x-ratelimit-remaining"]).toBe(String(limit - 2));
  });

  test("“All other endpoints” share one bucket", async () => {
    const usual = await target.mintKey({ scopes: ["full_access"] });
    await avoidEndOfMinute(20);
    const remaining = [];
    for (const path of ["/api/templates", "/api/templates/x", "/api/emails/x", "/api/nothing-here"])
      remaining.push((await call("GET", path, { token: usual.token })).headers["x-ratelimit-remaining"]);
    expect(remaining).toEqual(["59", "58", "57", "56"]);
  });

  const EVERY: [string, string, string, CallOptions][] = [
    ...CALLS.map(([, method, path, body]): [string, string, string, CallOptions] => [
      `${method} ${path}`,
      method,
      path,
      { body },
    ]),
    ...FAILURES.map(([status, ...rest]): [string, string, string, CallOptions] => [String(status), ...rest]),
    ["health", "GET", "/api/health", {}],
    ["readiness", "GET", "/api/health/ready", {}],
    ["HEAD", "HEAD", "/api/emails", {}],
    ["OPTIONS", "OPTIONS", "/api/emails", {}],
  ];
  test.each(EVERY)(
    "“Every response carries these headers: X-RateLimit-Limit, -Remaining, -Reset.” %s",
    async (_, method, path, options) => {
      for (const by of [{ token }, {}]) {
        const { headers } = await call(method, path, { ...by, ...options });
        const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) => {
          expect(headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
          return Number(headers[`x-ratelimit-${name}`]);
        });
        expect(limit).toBeGreaterThanOrEqual(1);
        expect(remaining).toBeLessThanOrEqual(limit ?? 0);
        // A Unix timestamp, in seconds, of a window that ends within the minute.
        expect(reset).toBeGreaterThan(target.nowMs() / 1000 - 5);
        expect(reset).toBeLessThanOrEqual(target.nowMs() / 1000 + 65);
      }
    },
  );

  test("“Higher limits are available by contacting the operator.”", async () => {
    const higher = await target.mintKey({ scopes: ["emails:send"], limits: { "POST /api/emails": 1_000 } });
    const { headers } = await call("POST", "/api/emails", { token: higher.token, body: EMAIL });
    expect(headers).toMatchObject({ "x-ratelimit-limit": "1000", "x-ratelimit-remaining": "999" });
  });
});
