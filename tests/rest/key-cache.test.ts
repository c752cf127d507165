import { afterAll, describe, expect, test, vi } from "vitest";
import { createKeyCache, type FoundKey } from "#server/services/keys/cache";
import { type DepsOptions, openDeps, type TestClock } from "../support/deps";
import { callApi, startRest } from "../support/rest";
import { openWorld } from "../support/world";

const eventually = { timeout: 20_000, interval: 10 };
const callsAtOnce = 8;

/** With this clock cached keys never expire by age. */
const frozen = (): TestClock => {
  const now = new Date();
  return { now: () => new Date(now), advance: () => {} };
};

/**
 * Another web process on the same database, and one behind a transaction pooler, which does not support
 * LISTEN.
 */
const closers: (() => Promise<void>)[] = [];

async function openProcess(options: DepsOptions): Promise<string> {
  const { deps, close } = openDeps(world.databaseUrl, options);
  const server = await startRest(deps);
  closers.push(async () => {
    await server.close();
    await close();
  });
  return server.baseUrl;
}

const world = await openWorld({ clock: frozen() });
const { id: one } = await world.domain("one.example.com");
const other = await openProcess({ clock: frozen() });
const pooled = await openProcess({ clock: frozen(), pooled: true });
afterAll(async () => {
  for (const close of closers) await close();
});

type Key = { id: string; token: string };

const statusAt = async (baseUrl: string, { token }: Key) =>
  (await callApi(baseUrl, "GET", "/api/domains", { token })).status;
const statusesAt = async (baseUrl: string, key: Key) => [
  ...new Set(await Promise.all(Array.from({ length: callsAtOnce }, () => statusAt(baseUrl, key)))),
];
const sendAt = async (baseUrl: string, { token }: Key, domain = "one.example.com") => {
  const body = { from: `a@${domain}`, to: "delivered@backstamp.test", subject: "x", html: "x" };
  return (await callApi(baseUrl, "POST", "/api/emails", { token, body })).status;
};

/** Writes a key's row without a notification, so only a lookup finds the change. */
const writeSilently = (key: Key, revokedAt: "now()" | "null") =>
  world.hot.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx.unsafe(`update api_keys set revoked_at = ${revokedAt} where id = $1`, [key.id]);
  });

/** Calls until the process has the key in its cache. */
async function cacheAt(baseUrl: string, key: Key): Promise<void> {
  await vi.waitFor(async () => {
    expect(await statusAt(baseUrl, key)).toBe(200);
    await writeSilently(key, "now()");
    const status = await statusAt(baseUrl, key);
    await writeSilently(key, "null");
    expect(status).toBe(200);
  }, eventually);
}

describe("a key that is revoked", () => {
  test("is rejected by the process that served the DELETE, starting with its response", async () => {
    const { token } = await world.key();
    const key = await world.key();
    await cacheAt(world.baseUrl, key);
    expect((await world.api("DELETE", `/api/api-keys/${key.id}`, { token })).status).toBe(200);
    expect(await statusesAt(world.baseUrl, key)).toEqual([401]);
  });

  test("is rejected by every other process after the notification", async () => {
    const { token } = await world.key();
    const key = await world.key();
    await cacheAt(other, key);
    expect((await world.api("DELETE", `/api/api-keys/${key.id}`, { token })).status).toBe(200);
    await vi.waitFor(async () => expect(await statusAt(other, key)).toBe(401), eventually);
    expect(await statusesAt(other, key)).toEqual([401]);
  });

  test("is rejected immediately without LISTEN, because keys are not cached there", async () => {
    const key = await world.key();
    expect(await statusesAt(pooled, key)).toEqual([200]);
    await writeSilently(key, "now()");
    expect(await statusesAt(pooled, key)).toEqual([401]);
  });

  test("is rejected by a process that lost its LISTEN connection", async () => {
    const key = await world.key();
    await cacheAt(other, key);
    await writeSilently(key, "now()");
    expect(await statusAt(other, key)).toBe(200);
    await world.hot`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`;
    await vi.waitFor(async () => expect(await statusAt(other, key)).toBe(401), eventually);
  });
});

test("a key that is rotated without overlap is rejected after the response", async () => {
  const { token } = await world.key();
  const key = await world.key();
  await cacheAt(world.baseUrl, key);
  const path = `/api/api-keys/${key.id}/rotate`;
  expect((await world.api("POST", path, { token, body: { overlap_seconds: 0 } })).status).toBe(201);
  expect(await statusesAt(world.baseUrl, key)).toEqual([401]);
});

test("a removed link takes effect after the response, in other processes after the notification", async () => {
  const { token } = await world.key();
  const key = await world.key({ domains: ["one.example.com"] });
  for (const baseUrl of [world.baseUrl, other]) {
    await cacheAt(baseUrl, key);
    expect(await sendAt(baseUrl, key)).toBe(200);
  }
  const path = `/api/api-keys/${key.id}/domains/${one}`;
  expect((await world.api("DELETE", path, { token })).status).toBe(200);
  expect(await sendAt(world.baseUrl, key)).toBe(403);
  await vi.waitFor(async () => expect(await sendAt(other, key)).toBe(403), eventually);
  expect((await world.api("PUT", path, { token })).status).toBe(200);
  for (const baseUrl of [world.baseUrl, other]) expect(await sendAt(baseUrl, key)).toBe(200);
});

test("a removed client network takes effect after the response, in other processes after the notification", async () => {
  const { token } = await world.key();
  const key = await world.key();
  const change = async (networks: string[]) => {
    const body = { client_networks: networks };
    return (await world.api("PATCH", `/api/api-keys/${key.id}`, { token, body })).status;
  };
  for (const baseUrl of [world.baseUrl, other]) await cacheAt(baseUrl, key);
  expect(await change(["192.0.2.0/24"])).toBe(200);
  expect(await statusesAt(world.baseUrl, key)).toEqual([403]);
  await vi.waitFor(async () => expect(await statusAt(other, key)).toBe(403), eventually);
  expect(await change([])).toBe(200);
  expect(await statusesAt(world.baseUrl, key)).toEqual([200]);
  await vi.waitFor(async () => expect(await statusAt(other, key)).toBe(200), eventually);
});

test("a deleted domain, or one with sending disabled, cannot be used after the response", async () => {
  const { token } = await world.key();
  const key = await world.key();
  const { id } = await world.domain("two.example.com");
  const change = async (method: string, body?: object) =>
    (await world.api(method, `/api/domains/${id}`, { token, body })).status;
  await cacheAt(world.baseUrl, key);
  expect(await sendAt(world.baseUrl, key, "two.example.com")).toBe(200);
  const receivingOnly = { capabilities: { sending: "disabled", receiving: "enabled" } };
  expect(await change("PATCH", receivingOnly)).toBe(200);
  expect(await sendAt(world.baseUrl, key, "two.example.com")).toBe(422);
  expect(await change("PATCH", { capabilities: { sending: "enabled" } })).toBe(200);
  await cacheAt(world.baseUrl, key);
  expect(await sendAt(world.baseUrl, key, "two.example.com")).toBe(200);
  expect(await change("DELETE")).toBe(200);
  expect(await sendAt(world.baseUrl, key, "two.example.com")).toBe(403);
});

test("a cached key is looked up again at its expiry, even if that is before the end of its time in the cache", async () => {
  let nowMs = Date.now();
  const cache = createKeyCache(
    () => new Date(nowMs),
    (onChange) => onChange(),
  );
  const key = {
    id: "1",
    familyId: "1",
    teamId: "1",
    scopes: [],
    allDomains: true,
    domains: [],
    limits: {},
    clientNetworks: [],
  };
  let found: FoundKey | null = { key, expiresInMs: 300 };
  const get = () => cache.get("name", async () => found);
  expect(await get()).toBe(key);
  found = null;
  nowMs += 299;
  expect(await get()).toBe(key);
  nowMs += 1;
  expect(await get()).toBeNull();
});
