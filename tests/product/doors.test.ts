import http from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Door, openDoor } from "#server/boot/node";
import { findPort } from "#server/boot/postgres/server";
import { restDoorOf } from "#server/boot/rest-door";
import { silentLog } from "#server/log";
import type { Route } from "#server/rest/route";
import { routes } from "#server/rest/routes";
import { SCOPES } from "#server/scopes";
import { createRouteCalls, mayHaveBody, nameOf } from "../rest/route-calls";
import { installationSecret } from "../support/deps";
import { startProcess, type TestProcess } from "../support/processes";
import { type CallOptions, callApi, type Reply } from "../support/rest";
import { createWorld, type World } from "../support/world";

/*
 * The same database behind both doors: the launcher's HTTP server, and what was built of Next where it runs alone, as on a
 * platform of functions. Every route is asked the same through both.
 */

const cronSecret = "the-operator's-secret-0123456789";
const apiHost = "api.example.com";
const megabyte = 1024 * 1024;

let world: World;
let door: Door;
let next: TestProcess;
let baseUrls: string[];
let token: string;
let expired: string;
let calls: ReturnType<typeof createRouteCalls>;
const narrow = new Map<string, string>();

beforeAll(async () => {
  world = await createWorld({ cronSecret, bodyMaxBytes: megabyte });
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
  door = await openDoor({
    host: "127.0.0.1",
    port: 0,
    apiHost,
    rest: Promise.resolve(restDoorOf(world.deps)),
    pages: { request: async (_, outgoing) => void outgoing.end(), upgrade: async () => {} },
    upgrades: false,
    log: silentLog,
  });
  const port = await findPort();
  const env = {
    DATABASE_URL: world.databaseUrl,
    POSTHORN_SECRET: installationSecret,
    POSTHORN_URL: `http://127.0.0.1:${port}`,
    POSTHORN_API_HOST: apiHost,
    POSTHORN_BODY_MAX_MB: "1",
    POSTHORN_DNS_SERVERS: "127.0.0.1:9",
    CRON_SECRET: cronSecret,
    SMTP_URL: "capture:",
    NODE_ENV: "production",
    NEXT_TELEMETRY_DISABLED: "1",
  };
  const bin = "node_modules/next/dist/bin/next";
  next = await startProcess(process.execPath, [bin, "start", "-p", String(port), "-H", "127.0.0.1"], { env });
  await next.waitFor(/Ready in/, { timeoutMs: 120_000 });
  baseUrls = [`http://127.0.0.1:${door.port}`, `http://127.0.0.1:${port}`];
});
afterAll(async () => {
  await next?.stop("SIGTERM", 60_000);
  await door?.close(1_000);
  await world.close();
});

const HEADERS = [
  ...["content-type", "content-disposition", "cache-control", "x-content-type-options", "x-request-id"],
  ...["x-ratelimit-limit", "ratelimit-policy", "www-authenticate", "allow", "retry-after"],
];

/** What has to be the same at both doors: of a refusal every word, of a success its form. */
function comparable({ status, headers, body, text }: Reply) {
  const shown = Object.fromEntries(HEADERS.map((name) => [name, headers[name]]));
  const said = status >= 400 ? body : { fields: Object.keys(body).sort(), isEmpty: text === "" };
  return { status, headers: shown, said };
}

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

  test("answers a good call alike at both doors", async () => {
    const status = await expectEqual(route, "good", async () => ({
      path: await calls.pathOf(route, token),
      ...bearer(),
      ...calls.goodBody(route),
    }));
    expect(status).toBe(route.status);
  });

  test("refuses alike at both doors", async () => {
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
      ...(mayHaveBody(route) && {
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

/** Sends a mail to a path at the host where the API answers at the root. */
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

test("at the API's own host its paths stand at the root of both doors", async () => {
  const letter = { from: "ann@posthorn.test", to: "delivered@posthorn.test", subject: "At the root" };
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
