import { afterAll, describe, expect, test } from "vitest";
import { byStatus, errorCodesOf } from "#server/rest/openapi/faults";
import type { Route } from "#server/rest/pipeline/route";
import { routes } from "#server/rest/routes";
import { SCOPES } from "#server/shared/scopes";
import { expectCommonHeadersAt } from "../rest/common-headers";
import { canHaveBody, createRouteCalls, hasId, nameOf } from "../rest/route-calls";
import { watchWrites } from "../support/database/write-watch";
import { type CallOptions, callApi, type Reply, startRest } from "../support/rest";
import { openWorld } from "../support/world";
import { sampleOf } from "./sample";

/**
 * Each guarantee is tested on every declared route, so a new route is tested automatically. `route-calls` has
 * the data that the declaration lacks; a route without an entry there fails with a message.
 */

const bodyMaxBytes = 64 * 1024;
const cronSecret = "the-operator's-secret-0123456789";
const metricsToken = "the-token-of-prometheus-0123456789";

let ticks = 0;
const pathOf = (route: Route, by = token) => calls.pathOf(route, by);
const goodBody = (route: Route) => calls.goodBody(route);
const bodyOf = (route: Route) => calls.bodyOf(route);
const world = await openWorld({ bodyMaxBytes, cronSecret, metricsToken, tick: async () => void ticks++ });
/** The same database in an installation without `CRON_SECRET`. */
const withoutSecret = await startRest({ ...world.deps, cronSecret: null });
const other = await world.otherTeam();
const { token } = await world.key();
const calls = createRouteCalls(world, other, token);
const writes = await watchWrites(world.hot);
afterAll(() => withoutSecret.close());

const expectCommonHeaders = (reply: Reply, type?: string) =>
  expectCommonHeadersAt(world.clock.now(), reply, type);

type Refusable = CallOptions & { method?: string; path?: string };
type Refusal = { status: number; text?: string; message?: RegExp };

const statusesOf = new Map(
  routes.map((route) => [route, byStatus(errorCodesOf(route)).map(([status]) => status)] as const),
);

/** Runs, and asserts that nothing happened. */
async function expectNothing<Result>(run: () => Promise<Result>): Promise<Result> {
  await writes.since();
  const before = ticks;
  const result = await run();
  expect({ writes: await writes.since(), ticks }).toEqual({ writes: [], ticks: before });
  return result;
}

/** Calls, and asserts that the call is rejected as expected, with the common headers. */
async function expectRefusal(route: Route, options: Refusable, expected: Refusal): Promise<Reply> {
  const path = options.path ?? (await pathOf(route));
  const reply = await world.api(options.method ?? route.method, path, options);
  expect({ status: reply.status, text: reply.text.slice(0, 300) }).toMatchObject({ status: expected.status });
  // Another path or method does not belong to this route.
  if (options.method === undefined && reply.status !== 404)
    expect(statusesOf.get(route)).toContain(reply.status);
  if (expected.text !== undefined) expect(reply.text).toBe(expected.text);
  if (expected.message) expect(reply.body.message).toMatch(expected.message);
  expectCommonHeaders(reply);
  return reply;
}

/** Like `expectRefusal`, and asserts that nothing happened. */
async function expectRefused(route: Route, options: Refusable, expected: Refusal): Promise<Reply> {
  const path = options.path ?? (await pathOf(route));
  return expectNothing(() => expectRefusal(route, { ...options, path }, expected));
}

const UNAUTHORIZED = { status: 401, text: '{"error":"Unauthorized"}' };
const FORBIDDEN = { status: 403, text: '{"error":"Insufficient API key permissions"}' };

// Cases that do not apply to a route are not declared; they are not skipped tests.
const testWhere = (applies: unknown) => (applies ? test : () => {});
const describeWhere = (applies: unknown) => (applies ? describe : () => {});

test("a key that only reads changes nothing", async () => {
  const { token: reading } = await world.key({ scopes: SCOPES.filter((scope) => scope.endsWith(":read")) });
  const isChange = (route: Route) => route.method !== "GET" && !route.path.endsWith("/preview");
  const changes = routes.filter((each) => isChange(each) && typeof each.access === "object");
  for (const route of sampleOf(changes))
    await expectRefused(route, { token: reading, ...goodBody(route) }, FORBIDDEN);
});

describe.each(sampleOf(routes).map((route) => [nameOf(route), route] as const))("%s", (_, route) => {
  const { access } = route;
  const isForKeys = typeof access === "object";
  const token200 = () => calls.bearerOf(route, token);

  test("responds to a valid call with its declared status, or with the reason why it cannot", async () => {
    const reply = await world.api(route.method, (await pathOf(route)) + (await calls.queryOf(route)), {
      token: token200(),
      ...goodBody(route),
    });
    expect([route.status, ...(isForKeys ? [] : [503])]).toContain(reply.status);
    expectCommonHeaders(reply, route.responseType);
  });

  testWhere(!route.isLink)("is 422 for an unknown query parameter", async () => {
    const path = `${await pathOf(route)}?unheard_of=1`;
    const options = { token: token200(), path, ...goodBody(route) };
    await expectRefused(route, options, { status: 422, message: /`unheard_of`/ });
  });

  testWhere(route.accepts)("rejects every invalid file", async () => {
    const path = await pathOf(route);
    const call = (raw: string | Uint8Array, status: number, headers: CallOptions["headers"] = {}) =>
      expectRefusal(
        route,
        {
          token: token200(),
          path,
          raw,
          headers: { "content-type": route.accepts ?? "", ...route.example?.headers, ...headers },
        },
        { status },
      );
    await expectNothing(async () => {
      await call("{}", 415, {
        "content-type": route.accepts === "application/json" ? "text/csv" : "application/json",
      });
      await call("x", 415, { "content-type": [] });
      await call("x", 415, { "content-encoding": "gzip" });
      await call("x\n".repeat(bodyMaxBytes), 413);
      const chunked = { "transfer-encoding": "chunked", "content-length": [] };
      await call("x\n".repeat(bodyMaxBytes), 413, chunked);
      // An email may contain any bytes, but it has a header.
      const odd = route.accepts === "message/rfc822" ? 422 : 400;
      await call(Buffer.from([0xff, 0xfe, 0x00]), odd);
      await call("", 400);
    });
  });

  testWhere(canHaveBody(route) && !route.accepts && !route.ignoresBody)(
    "rejects every invalid body",
    async () => {
      const path = await pathOf(route);
      const call = (raw: string | Uint8Array, status: number, headers: CallOptions["headers"] = {}) =>
        expectRefusal(route, { token: token200(), path, raw, headers }, { status });
      await expectNothing(async () => {
        await call("{}", 415, { "content-type": "text/plain" });
        await call("a=b", 415, { "content-type": "application/x-www-form-urlencoded" });
        await call("{}", 415, { "content-encoding": "gzip" });
        await call(`{"a":"${"x".repeat(bodyMaxBytes)}"}`, 413);
        await call(`{"a":"${"x".repeat(bodyMaxBytes)}"}`, 413, {
          "transfer-encoding": "chunked",
          "content-length": [],
        });
        await call("{", 400);
        await call("[".repeat(30_000), 400);
        await call(Buffer.from([0xff, 0xfe, 0x00]), 400);
        await call('{"a":1e999}', 422);
        await call('{"a":"\\u0000"}', 422);
        await call('{"a":"\\ud800"}', 422);
        await call('{"__proto__":{"a":1}}', 422);
        await call(`{"a":${"[".repeat(40)}${"]".repeat(40)}}`, 422);
        await call("[1]", route.body && route.bodyForm !== "array" ? 400 : 422);
        await call('"x"', route.body ? 400 : 422);
        await call('{"unheard_of":1}', route.bodyForm === "array" ? 400 : 422);
        if (route.body) {
          if (route.bodyForm !== "optional") await call("", 400);
          await call("null", 400);
        }
      });
    },
  );

  testWhere(route.body)("names an unknown field", async () => {
    const good = bodyOf(route);
    const spoiled = (fields: object) => ({ ...fields, unheard_of: 1, teamId: other.id });
    const body = Array.isArray(good) ? good.map(spoiled) : spoiled(good);
    await expectRefused(
      route,
      { token: token200(), body },
      { status: 422, message: /`unheard_of`, `teamId`/ },
    );
  });

  testWhere(route.method === "GET")("responds to HEAD like GET, without a body", async () => {
    const path = await pathOf(route);
    const options = { token: token200() };
    const get = await world.api("GET", path, options);
    const head = await world.api("HEAD", path, options);
    expect(head.status).toBe(get.status);
    expect(head.text).toBe("");
    for (const name of ["x-ratelimit-limit", "content-type", "x-request-id"])
      expect(head.headers).toHaveProperty(name);
  });

  test("is not found with a trailing or double slash or an encoded letter", async () => {
    const path = await pathOf(route);
    const odd = [path.replace("/api/", "/api//"), path.replace(/^\/api\/(.)/, "/api/..;/$1")];
    if (!route.isLink) odd.push(`${path}/`);
    await expectNothing(async () => {
      for (const each of odd)
        await expectRefusal(route, { path: each, token, ...goodBody(route) }, { status: 404 });
    });
  });

  const ofPath = routes.filter((each) => each.path === route.path);
  testWhere(ofPath[0] === route)("is 405 for unsupported methods, and names the supported ones", async () => {
    const path = await pathOf(route);
    const allowed = ofPath.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    await expectNothing(async () => {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]) {
        if (allowed.includes(method)) continue;
        const { headers } = await expectRefusal(route, { method, path, token }, { status: 405 });
        expect(headers.allow).toBe(allowed.join(", "));
        await expectRefusal(route, { method, path }, UNAUTHORIZED);
      }
    });
  });

  describeWhere(isForKeys)("with keys", () => {
    const scope = isForKeys ? access.scope : "";

    test("is 401 without a valid key, with exactly the specified body", async () => {
      const expired = await world.key({ expiresAt: new Date("2020-01-01T00:00:00Z") });
      const revoked = await world.key();
      await world.revoke(revoked.id);
      const known = token.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
      const path = await pathOf(route);
      const good = goodBody(route);
      const others = [expired.token, revoked.token, cronSecret, `${token} x`];
      await expectNothing(async () => {
        for (const wrong of [undefined, "", "x", known, ...others]) {
          const reply = await expectRefusal(route, { path, ...good, token: wrong }, UNAUTHORIZED);
          expect(reply.headers["www-authenticate"]).toBe("Bearer");
        }
      });
    });

    test("is 403 for a key with every scope except the required one", async () => {
      const { token: narrow } = await world.key({ scopes: SCOPES.filter((each) => each !== scope) });
      await expectRefused(route, { token: narrow, ...goodBody(route) }, FORBIDDEN);
      const { token: exact } = await world.key({ scopes: [scope] });
      const reply = await world.api(route.method, await pathOf(route), { token: exact, ...goodBody(route) });
      expect(reply.status).toBe(route.status);
    });

    test("checks key, limit, scope and body in that order", async () => {
      const path = await pathOf(route);
      const hostile = { path, raw: "{", headers: { "content-type": "text/plain" } };
      await expectRefused(route, hostile, UNAUTHORIZED);
      const { token: narrow } = await world.key({ scopes: SCOPES.filter((each) => each !== scope) });
      await expectRefused(route, { ...hostile, token: narrow }, FORBIDDEN);
    });

    test("is 429 above the key's limit with the seconds to wait, and succeeds after that time", async () => {
      const tier = route.tier === "none" ? "other" : route.tier;
      const { token: narrow } = await world.key({ scopes: [scope], limits: { [tier]: 1 } });
      const path = await pathOf(route);
      const options = { path, token: narrow, ...goodBody(route) };
      const first = await world.api(route.method, path, options);
      expect(first.headers).toMatchObject({ "x-ratelimit-limit": "1", "x-ratelimit-remaining": "0" });
      const { body, headers } = await expectRefused(route, options, { status: 429 });
      expect(body).toEqual({ error: "Rate limit exceeded", retryAfter: expect.any(Number) });
      expect(headers["retry-after"]).toBe(String(body.retryAfter));
      expect(headers["x-ratelimit-remaining"]).toBe("0");
      world.clock.advance(Number(body.retryAfter) * 1000);
      const again = await world.api(route.method, hasId(route) ? await pathOf(route) : path, {
        ...options,
        ...goodBody(route),
      });
      expect(again.status).toBe(route.status);
    });

    testWhere(hasId(route))("responds the same for another team's row and a missing row", async () => {
      const { token: foreign } = await other.key();
      const path = await pathOf(route, foreign);
      const missing = route.path.replace(/\{[^}]*\}/g, "018f0000-0000-7000-8000-000000000000");
      const answers: unknown[] = [];
      for (const each of [path, missing]) {
        const options = {
          path: each,
          token,
          ...goodBody(route),
          headers: { "x-request-id": "same-for-both" },
        };
        answers.push((await expectRefused(route, options, { status: 404 })).body);
      }
      expect(answers[0]).toEqual(answers[1]);
      const own = await world.api(route.method, path, { token: foreign, ...goodBody(route) });
      expect(own.status).toBe(route.status);
    });
  });

  describeWhere(access === "public")("public", () => {
    test("responds without a key, with an invalid key, and to any number of calls", async () => {
      const path = await pathOf(route);
      const first = await world.api(route.method, path);
      for (let n = 0; n < 70; n++) {
        const { status } = await world.api(route.method, path, n % 2 ? {} : { token: "bad" });
        expect(status).toBe(first.status);
      }
      expectCommonHeaders(await world.api(route.method, path), route.responseType);
    });
  });

  describeWhere(!isForKeys && access !== "public")("for the operator", () => {
    test("is 401 without the secret, also with a key or another secret", async () => {
      const secret = token200() ?? "";
      const others = [cronSecret, metricsToken, world.deps.inboundToken ?? ""].filter(
        (each) => each !== secret,
      );
      const path = await pathOf(route);
      const near = [token, secret.slice(1), `${secret}x`, ...others];
      await expectNothing(async () => {
        for (const wrong of [undefined, "", "undefined", "null", ...near])
          await expectRefusal(route, { path, token: wrong, ...goodBody(route) }, UNAUTHORIZED);
      });
    });

    test("is never rate limited", async () => {
      const options = { token: token200(), ...goodBody(route) };
      for (let n = 0; n < 70; n++)
        expect((await world.api(route.method, route.path, options)).status).toBe(route.status);
    });

    testWhere(access === "operator-token")("does not exist without a configured secret", async () => {
      const call = (bearer?: string) =>
        callApi(
          withoutSecret.baseUrl,
          route.method,
          route.path,
          bearer === undefined ? {} : { token: bearer },
        );
      const before = ticks;
      expect((await call()).status).toBe(401);
      expect((await call("null")).status).toBe(401);
      expect((await call(cronSecret)).status).toBe(401);
      expect((await call(token)).status).toBe(404);
      expect(ticks).toBe(before);
    });
  });
});
