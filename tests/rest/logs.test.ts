import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { deleteOldRecords } from "#server/delivery/housekeeping/old-records";
import type { Facts, Log } from "#server/platform/log";
import { openWorld } from "../support/world";
import { EMAIL as VALID } from "./test-app";

type Entry = {
  id: string;
  created_at: string;
  endpoint: string;
  method: string;
  response_status: number;
  user_agent: string | null;
  api_key_id: string;
  request_body: unknown;
  response_body: unknown;
};

const lines: { event: string; facts: Facts }[] = [];
const record = (event: string, facts: Facts = {}) => void lines.push({ event, facts });
const log: Log = { info: record, warn: record, error: record };

/** Reads the log; its own calls are excluded from the checks. */
let reader: { id: string; token: string };
const world = await openWorld({ log });
beforeAll(async () => {
  reader = await world.key({ scopes: ["logs:read"] });
});
afterEach(async () => {
  await world.deps.requestLog.flush();
  await world.hot`delete from api_requests`;
});

const read = (path: string, by = reader.token) => world.api("GET", path, { token: by });
const list = async (query = "") => {
  await world.deps.requestLog.flush();
  const reply = await read(`/api/logs?limit=100${query}`);
  expect(reply.status, reply.text).toBe(200);
  return (reply.body.data as Entry[]).filter(({ api_key_id }) => api_key_id !== reader.id);
};
const whole = async (entry: Entry | undefined) => (await read(`/api/logs/${entry?.id}`)).body as Entry;

const EMAIL = { ...VALID, html: "<p>canary</p>" };

test("the call that sent an email is found by its id, also in a batch and when it was repeated", async () => {
  const { token } = await world.key();
  const post = (path: string, body: object, headers = {}) =>
    world.api("POST", path, { token, body, headers: { "idempotency-key": path, ...headers } });
  const { body: one } = await post("/api/emails", EMAIL);
  await post("/api/emails", EMAIL);
  const { body: batch } = await post(
    "/api/emails/batch",
    Array.from({ length: 60 }, () => EMAIL),
  );
  await world.api("POST", `/api/emails/${one.id}/retry`, { token, body: {} });
  const last = (batch.data as { id: string }[]).at(-1)?.id;
  const endpoints = async (id: unknown) =>
    (await list(`&email_id=${id}`)).map(({ endpoint, response_status: status }) => [endpoint, status]);
  expect(await endpoints(last)).toEqual([["/emails/batch", 200]]);
  expect(await endpoints(one.id)).toEqual([
    ["/emails", 200],
    ["/emails", 200],
  ]);
  expect(await endpoints(reader.id)).toEqual([]);
});

test("a call is logged with its request and response", async () => {
  const { token, id } = await world.key();
  const sent = await world.api("POST", "/api/emails?", {
    token,
    body: EMAIL,
    headers: { "user-agent": "resend-node:6.38.0" },
  });
  const [entry] = await list();
  expect(entry).toEqual({
    id: expect.any(String),
    created_at: expect.stringMatching(/Z$/),
    endpoint: "/emails",
    method: "POST",
    response_status: 200,
    user_agent: "resend-node:6.38.0",
    api_key_id: id,
    rejection: null,
  });
  expect(await whole(entry)).toEqual({
    object: "log",
    ...entry,
    request_body: { ...EMAIL, html: "[13 characters]" },
    response_body: { id: sent.body.id },
  });
});

describe("rejected calls", () => {
  test("are logged with their reason: scope, limit, field, path, method", async () => {
    const narrow = await world.key({ scopes: ["emails:read"], limits: { other: 1 } });
    const { token } = await world.key();
    await world.api("POST", "/api/emails", { token: narrow.token, body: EMAIL });
    await world.api("GET", "/api/templates", { token: narrow.token });
    await world.api("GET", "/api/templates", { token: narrow.token });
    await world.api("POST", "/api/emails", { token, body: { ...EMAIL, to: "nobody" } });
    await world.api("POST", "/api/emails", { token, raw: "{" });
    await world.api("GET", "/api/nothing", { token });
    await world.api("DELETE", "/api/emails", { token });
    expect(
      (await list()).map(({ method, endpoint, response_status }) => [response_status, method, endpoint]),
    ).toEqual([
      [405, "DELETE", "/emails"],
      [404, "GET", "/nothing"],
      [400, "POST", "/emails"],
      [422, "POST", "/emails"],
      [429, "GET", "/templates"],
      [403, "GET", "/templates"],
      [403, "POST", "/emails"],
    ]);
    const [limited] = await list("&status=429");
    expect((await whole(limited)).response_body).toEqual({
      error: "Rate limit exceeded",
      retryAfter: expect.any(Number),
    });
    const [invalid] = await list("&status=422");
    expect(await whole(invalid)).toMatchObject({
      request_body: { to: "nobody" },
      response_body: { name: "validation_error", statusCode: 422 },
    });
  });

  test("with an expired or revoked key are visible to its team; with any other token they are not logged", async () => {
    const expired = await world.key({ expiresAt: new Date("2020-01-01T00:00:00Z") });
    const revoked = await world.key();
    await world.revoke(revoked.id);
    const unknown = `re_${"0".repeat(12)}_${"0".repeat(43)}_${"0".repeat(6)}`;
    for (const token of [expired.token, revoked.token, unknown, "nonsense", undefined])
      expect((await world.api("GET", "/api/emails", token === undefined ? {} : { token })).status).toBe(401);
    const calls = await list();
    expect(calls.map(({ response_status }) => response_status)).toEqual([401, 401]);
    expect(new Set(calls.map(({ api_key_id }) => api_key_id))).toEqual(new Set([expired.id, revoked.id]));
  });
});

test("no call stores secrets or email content", async () => {
  const { token } = await world.key();
  const made = await world.api("POST", "/api/api-keys", {
    token,
    body: { name: "New", scopes: ["emails:read"] },
  });
  const hook = await world.api("POST", "/api/webhooks", {
    token,
    body: { endpoint: "https://example.com/hook?key=canary", events: ["email.sent"] },
  });
  await world.api("POST", "/api/templates", {
    token,
    body: { name: "T", html: "<p>canary {{CODE}}</p>", alias: "t" },
  });
  await world.api("POST", "/api/emails", {
    token,
    body: { ...EMAIL, html: undefined, template: { id: "t", variables: { CODE: "canary" } } },
  });
  await world.api("POST", "/api/emails", {
    token,
    body: { ...EMAIL, text: "canary", attachments: [{ filename: "a.txt", content: btoa("canary") }] },
  });
  await world.api("GET", `/api/webhooks/${hook.body.id}`, { token });
  await world.api("GET", `/api/nowhere/${made.body.token}?token=${made.body.token}`, {
    token,
    headers: { "user-agent": `me/1 ${made.body.token}` },
  });
  await world.deps.requestLog.flush();
  const kept = JSON.stringify(await world.hot`select * from api_requests`);
  expect(kept).toContain("[redacted]");
  for (const secret of [
    "canary",
    btoa("canary"),
    String(made.body.token),
    String(hook.body.signing_secret),
    token,
  ])
    expect(kept).not.toContain(secret);
});

test("the list can be filtered by key, status and method, and paged in both directions", async () => {
  const [a, b] = [await world.key(), await world.key()];
  for (let n = 0; n < 3; n++) await world.api("GET", `/api/emails?limit=${n}`, { token: a.token });
  await world.api("POST", "/api/emails", { token: b.token, body: EMAIL });
  expect((await list(`&key=${a.id}`)).map(({ response_status }) => response_status)).toEqual([200, 200, 422]);
  expect(await list(`&key=${a.id}&status=4xx`)).toHaveLength(1);
  expect(await list(`&key=${b.id}&method=GET`)).toHaveLength(0);
  expect((await list("&method=POST"))[0]?.api_key_id).toBe(b.id);
  const [newest, middle, oldest] = await list(`&key=${a.id}`);
  const page = async (query: string) =>
    ((await read(`/api/logs?key=${a.id}&${query}`)).body.data as Entry[]).map(({ id }) => id);
  expect(await page(`limit=1&after=${newest?.id}`)).toEqual([middle?.id]);
  expect(await page(`limit=1&before=${oldest?.id}`)).toEqual([middle?.id]);
  for (const query of ["status=600", "status=4x", "method=get", "key=1", "limit=101", "after=1"])
    expect((await read(`/api/logs?${query}`)).status).toBe(422);
});

test("a log entry that cannot be written fails no call, and the loss is logged", async () => {
  const { token } = await world.key();
  await world.hot`alter table api_requests rename to hidden`;
  try {
    expect((await world.api("POST", "/api/emails", { token, body: EMAIL })).status).toBe(200);
    await world.deps.requestLog.flush();
  } finally {
    await world.hot`alter table hidden rename to api_requests`;
  }
  expect(lines).toContainEqual({ event: "log.calls_not_written", facts: expect.anything() });
  expect(lines).toContainEqual({ event: "log.calls_lost", facts: { count: 1 } });
  expect(await list()).toEqual([]);
});

test("calls above the buffer size are dropped, rejected ones last", async () => {
  const { id: apiKeyId } = await world.key();
  const call = (status: number) =>
    world.deps.requestLog.record({
      caller: { teamId: world.id, apiKeyId },
      method: "GET",
      path: "/api/emails",
      status,
      userAgent: null,
    });
  for (let n = 0; n < 5_000; n++) call(200);
  for (let n = 0; n < 5_000; n++) call(403);
  await world.deps.requestLog.flush();
  const counted = await world.hot<{ status: number; n: number }[]>`
    select status, count(*)::int as n from api_requests where api_key_id = ${apiKeyId} group by 1 order by 1`;
  expect([...counted]).toEqual([
    { status: 200, n: 2_000 },
    { status: 403, n: 500 },
  ]);
});

test("entries older than seven days are deleted", async () => {
  const { token } = await world.key();
  await world.api("GET", "/api/emails", { token });
  await world.api("GET", "/api/templates", { token });
  await world.deps.requestLog.flush();
  await world.hot`update api_requests set created_at = now() - interval '169 hours' where path = '/api/emails'`;
  await world.hot`update api_requests set created_at = now() - interval '167 hours' where path = '/api/templates'`;
  await deleteOldRecords(world.deps, () => true);
  expect((await list()).map(({ endpoint }) => endpoint)).toEqual(["/templates"]);
});
