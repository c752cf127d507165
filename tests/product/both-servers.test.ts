import http from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import type { Route } from "#server/rest/pipeline/route";
import { routes } from "#server/rest/routes";
import { SCOPES } from "#server/shared/scopes";
import { type HttpServer, openHttpServer } from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";
import { canHaveBody, createRouteCalls, nameOf } from "../rest/route-calls";
import { installationSecret } from "../support/deps";
import { forAllTests } from "../support/fixtures";
import { startProcess, type TestProcess } from "../support/processes/processes";
import { type CallOptions, callApi, type Reply } from "../support/rest";
import { freePort } from "../support/servers/free-port";
import { createWorld } from "../support/world";

/*
 * One database behind both servers: the launcher's HTTP server, and Next alone with the production build, as
 * on a serverless platform. Every route is called through both.
 */

const cronSecret = "the-operator's-secret-0123456789";
const metricsToken = "the-token-of-prometheus-0123456789";
const apiHost = "api.example.com";
const megabyte = 1024 * 1024;

const world = forAllTests(() =>
  createWorld({ cronSecret, metricsToken, bodyMaxBytes: megabyte, hasSharedLimits: false }),
);
let server: HttpServer;
let next: TestProcess;
let baseUrls: string[];
let token: string;
let expired: string;
let calls: ReturnType<typeof createRouteCalls>;
const narrow = new Map<string, string>();

beforeAll(async () => {
  // Next alone counts rate limits per instance, and its readiness says so.
  ({ token } = await world.key());
  ({ token: expired } = await world.key({ expiresAt: new Date("2020-01-01T00:00:00Z") }));
  for (const scope of SCOPES) {
    const { token: without } = await world.key({ scopes: SCOPES.filter((each) => each !== scope) });
    narrow.set(scope, without);
  }
  calls = createRouteCalls(world, await world.otherTeam(), token);
  await world.deps.hot`
    insert into workers (id, host, pid, transport, beat_at)
    values (gen_random_uuid(), 'here', 1, 'capture', now() + interval '1 day')`;
  server = await openHttpServer({
    host: "127.0.0.1",
    port: 0,
    apiHost,
    rest: Promise.resolve(createRestApi(world.deps)),
    pages: { request: async (_, outgoing) => void outgoing.end(), upgrade: async () => {} },
    upgrades: false,
    log: silentLog,
  });
  const port = await freePort();
  const env = {
    DATABASE_URL: world.databaseUrl,
    BACKSTAMP_SECRET: installationSecret,
    BACKSTAMP_URL: `http://127.0.0.1:${port}`,
    BACKSTAMP_API_HOST: apiHost,
    BACKSTAMP_BODY_MAX_MB: "1",
    BACKSTAMP_DNS_SERVERS: "127.0.0.1:9",
    CRON_SECRET: cronSecret,
    BACKSTAMP_METRICS_TOKEN: metricsToken,
    SMTP_URL: "capture:",
    NODE_ENV: "production",
    NEXT_TELEMETRY_DISABLED: "1",
  };
  const bin = "node_modules/next/dist/bin/next";
  next = await startProcess(process.execPath, [bin, "start", "-p", String(port), "-H", "127.0.0.1"], { env });
  await next.waitFor(/Ready in/, { timeoutMs: 120_000 });
  baseUrls = [`http://127.0.0.1:${server.port}`, `http://127.0.0.1:${port}`];
});
afterAll(async () => {
  await next?.stop("SIGTERM", 60_000);
  await server?.close(1_000);
});

const HEADERS = [
  ...["content-type", "content-disposition", "cache-control", "x-content-type-options", "x-request-id"],
  ...["x-ratelimit-limit", "ratelimit-policy", "www-authenticate", "allow", "retry-after"],
];

/** What must be equal at both servers: for an error every word, for a success its shape. */
function comparable({ status, headers, body, text }: Reply) {
  const shown = Object.fromEntries(HEADERS.map((name) => [name, headers[name]]));
  const said = status >= 400 ? body : { fields: Object.keys(body).sort(), isEmpty: text === "" };
  return { status, headers: shown, said };
}

const kindOf = ({ access, method, path }: Route) =>
  [typeof access === "object" ? "scoped" : access, method, path.includes("{")].join(" ");
const isFirstOfItsKind = (route: Route) => routes.find((each) => kindOf(each) === kindOf(route)) === route;

type Asked = CallOptions & { method?: string; path?: string };

async function expectEqual(route: Route, name: string, ask: () => Promise<Asked>): Promise<number> {
  const answers = [];
  for (const baseUrl of baseUrls) {
    const { method = route.method, path = route.path, ...options } = await ask();
    const headers = { ...options.headers, "x-request-id": "same-for-both" };
    answers.push(comparable(await callApi(baseUrl, method, path, { ...options, headers })));
  }
  expect({ name, ...answers[1] }).toEqual({ name, ...answers[0] });
  return answers[0]?.status ?? 0;
}

describe.each(routes.map((route) => [nameOf(route), route] as const))("%s", (_, route) => {
  const { access } = route;
  const bearer = () => {
    const opening = calls.bearerOf(route, token);
    return opening === undefined ? {} : { token: opening };
  };
  const missing = route.path.replace(/\{[^}]*\}/g, "018f0000-0000-7000-8000-000000000000");

  test("responds equally to a valid call at both servers", async () => {
    const status = await expectEqual(route, "good", async () => ({
      path: (await calls.pathOf(route, token)) + (await calls.queryOf(route)),
      ...bearer(),
      ...calls.goodBody(route),
    }));
    expect(status).toBe(route.status);
  });

  // The pipeline before a route is the same for all routes with the same access and method.
  if (!isFirstOfItsKind(route)) return;
  test("responds equally to an invalid call at both servers", async () => {
    const good = calls.goodBody(route);
    const json = { "content-type": "application/json" };
    const asked: Record<string, Asked> = {
      "no key": { path: missing, ...good },
      "wrong key": { path: missing, ...good, token: "x" },
      "expired key": { path: missing, ...good, token: expired },
      ...(typeof access === "object" && {
        "wrong scope": { path: missing, ...good, token: narrow.get(access.scope) ?? "" },
      }),
      ...(missing !== route.path && { "no such row": { path: missing, ...bearer(), ...good } }),
      "a query of another": { path: `${missing}?unheard_of=1`, ...bearer(), ...good },
      "a slash more": { path: `${missing}/`, token, ...good },
      "a path that leads on": { path: `${missing}/nowhere/at/all`, token, ...good },
      ...(canHaveBody(route) && {
        "wrong type": { path: missing, ...bearer(), raw: "a", headers: { "content-type": "text/plain" } },
        compressed: {
          path: missing,
          ...bearer(),
          raw: "a",
          headers: { ...json, "content-encoding": "gzip" },
        },
        "half of a body": { path: missing, ...bearer(), raw: '{"a":', headers: json },
        "no text": { path: missing, ...bearer(), raw: Buffer.from([0xff, 0xfe, 0]), headers: json },
        "too large": { path: missing, ...bearer(), raw: `"${"x".repeat(megabyte)}"`, headers: json },
      }),
    };
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      if (
        !routes.some(
          (each) => each.path === route.path && each.method === (method === "HEAD" ? "GET" : method),
        )
      )
        asked[`method ${method}`] = { path: missing, token, method };
    for (const [name, one] of Object.entries(asked)) await expectEqual(route, name, async () => one);
  });
});

/** Posts an email to a path at the host where the API is served at the root. */
function postAtApiHost(
  baseUrl: string,
  path: string,
  body: object,
): Promise<{ status?: number; text: string }> {
  const headers = { host: apiHost, authorization: `Bearer ${token}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(path, baseUrl), { method: "POST", headers }, (response) =>
      text(response).then((said) => resolve({ status: response.statusCode, text: said }), reject),
    );
    request.once("error", reject).end(JSON.stringify(body));
  });
}

test("at the API's own host its paths are at the root of both servers", async () => {
  const letter = { from: "ann@backstamp.test", to: "delivered@backstamp.test", subject: "At the root" };
  for (const baseUrl of baseUrls) {
    for (const path of ["/emails", "/api/emails"]) {
      const { status, text: said } = await postAtApiHost(baseUrl, path, {
        ...letter,
        html: "x".repeat(900_000),
      });
      expect({ baseUrl, path, status, said }).toMatchObject({
        status: 200,
        said: expect.stringContaining('"id"'),
      });
    }
    const { status, text: said } = await postAtApiHost(baseUrl, "/nothing", {});
    expect({ status, body: JSON.parse(said) }).toMatchObject({ status: 404, body: { statusCode: 404 } });
  }
});
