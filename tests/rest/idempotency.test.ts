import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { idempotencyKeys } from "#db/schema/emails";
import { fingerprintOf } from "#server/services/emails/accept/fingerprint";
import { openDeps } from "../support/deps";
import { postDuplicates } from "../support/duplicate-posts";
import { createGate } from "../support/gate";
import { callApi, startRest } from "../support/rest";
import { openWorld } from "../support/world";
import { EMAIL as VALID } from "./test-app";

const world = await openWorld({ connectionsMax: 12 });
const { token } = await world.key();
const deps = openDeps(world.databaseUrl, { connectionsMax: 12 });
/** The API of a second process on the same database, with its own pools, acceptor and limits. */
const second = { ...(await startRest(deps.deps)), deps };
afterAll(async () => {
  await second.close();
  await second.deps.close();
});

const EMAIL = { ...VALID, subject: "Once" };
const post = (key: string, body: unknown = EMAIL, by = token) =>
  world.api("POST", "/api/emails", { token: by, body, headers: { "idempotency-key": key } });
const mailCount = async () => (await world.rowCounts()).emails;

test("an email posted twice with one key is accepted once, and the second response is marked as replayed", async () => {
  const key = randomUUID();
  const before = (await mailCount()) ?? 0;
  const first = await post(key);
  const again = await post(key);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.body).toEqual(first.body);
  expect(first.headers["idempotent-replayed"]).toBeUndefined();
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect(await mailCount()).toBe(before + 1);
});

test("concurrent equal posts to two processes create one email with equal responses, in each round", async () => {
  const baseUrls = [world.baseUrl, second.baseUrl];
  expect(await postDuplicates({ baseUrls, token, rounds: 3, posts: 12 })).toEqual([]);
});

test("field order, whitespace and escapes do not change a payload", async () => {
  const key = randomUUID();
  const first = await post(key);
  const reversed = Object.fromEntries(Object.entries(EMAIL).reverse());
  const again = await world.api("POST", "/api/emails", {
    token,
    raw: JSON.stringify(reversed, null, 4).replace("Once", "\\u004fnce"),
    headers: { "idempotency-key": key },
  });
  expect(again.body).toEqual(first.body);
  expect(again.headers["idempotent-replayed"]).toBe("true");
});

test("another payload with a used key is 409, whichever value differs, and nothing is sent", async () => {
  const key = randomUUID();
  const newEmail = {
    ...EMAIL,
    to: ["delivered@backstamp.test", "bounced@backstamp.test"],
    text: "Hello",
    headers: { "X-A": "1", "X-B": "2" },
    tags: [{ name: "a", value: "b" }],
  };
  await post(key, newEmail);
  const before = await world.rowCounts();
  const edits: [string, object][] = [
    ["to", { to: newEmail.to.toReversed() }],
    ["subject", { subject: "Once " }],
    ["html", { html: "<p>Hello.</p>" }],
    ["text", { text: "" }],
    ["headers", { headers: { "X-A": "2", "X-B": "1" } }],
    ["tags", { tags: [{ name: "a", value: "c" }] }],
  ];
  for (const [what, edit] of edits) {
    const { status, body } = await post(key, { ...newEmail, ...edit });
    expect({ what, status, name: body.name }).toEqual({
      what,
      status: 409,
      name: "invalid_idempotent_request",
    });
  }
  expect(await world.rowCounts()).toEqual(before);
});

test("a key belongs to the team, not to the API key: a repeat with another API key is replayed, another team's is not", async () => {
  const key = randomUUID();
  const first = await post(key);
  const colleague = await world.key();
  expect((await post(key, EMAIL, colleague.token)).body).toEqual(first.body);
  const otherTeam = await (await world.otherTeam()).key();
  const own = await post(key, EMAIL, otherTeam.token);
  expect(own.status).toBe(200);
  expect(own.body).not.toEqual(first.body);
});

test("a key expires after 24 hours and not earlier", async () => {
  const key = randomUUID();
  const first = await post(key);
  await world.elapse("23 hours 59 minutes");
  expect((await post(key)).body).toEqual(first.body);
  await world.elapse("2 minutes");
  const later = await post(key, { ...EMAIL, subject: "Another" });
  expect(later.status).toBe(200);
  expect(later.body).not.toEqual(first.body);
  expect((await post(key, { ...EMAIL, subject: "Another" })).body).toEqual(later.body);
});

test("a rejected call does not use its key", async () => {
  const key = randomUUID();
  expect((await post(key, { ...EMAIL, to: "nobody" })).status).toBe(422);
  expect((await post(key, { ...EMAIL, from: "ann@example.com" })).status).toBe(403);
  expect((await post(key)).status).toBe(200);
});

test("a replay still needs a key with the scope, and counts against the limit", async () => {
  const key = randomUUID();
  await post(key);
  const reader = await world.key({ scopes: ["emails:read"] });
  expect((await post(key, EMAIL, reader.token)).status).toBe(403);
  const narrow = await world.key({ limits: { "POST /api/emails": 1 } });
  expect((await post(key, EMAIL, narrow.token)).status).toBe(200);
  expect((await post(key, EMAIL, narrow.token)).status).toBe(429);
});

test.each([
  ["empty", "", 400],
  ["257 characters", "k".repeat(257), 400],
  ["256 characters", `${randomUUID()}${"k".repeat(220)}`, 200],
  ["one character", "k", 200],
  ["blanks between", "my key: 1/2", 200],
  ["letters beyond ASCII", Buffer.from("schlüssel").toString("latin1"), 400],
])("a key of %s gets %i", async (_, key, expected) => {
  const { status, body } = await post(key);
  expect(status).toBe(expected);
  if (expected === 400) {
    expect(body.name).toBe("invalid_idempotency_key");
    expect(body.message).toMatch(/`Idempotency-Key`.*1 to 256/);
  }
});

/**
 * Locks a key like a concurrent request whose statement is not committed yet. The returned function ends it.
 */
async function holdKey(key: string, body: unknown = EMAIL) {
  const [held, ended] = [createGate(), createGate()];
  let isKilled = false;
  const writing = world.deps.db.transaction(async (tx) => {
    await tx.insert(idempotencyKeys).values({
      teamId: world.id,
      route: "POST /api/emails",
      key,
      fingerprint: fingerprintOf(body),
      status: 200,
      answer: { id: "of the first request" },
    });
    held.open();
    await ended.passed;
    if (isKilled) throw new Error("killed");
  });
  await Promise.race([held.passed, writing]);
  return {
    commit: async () => {
      ended.open();
      await writing;
    },
    fail: async () => {
      isKilled = true;
      ended.open();
      await writing.catch(() => {});
    },
  };
}

/** Waits until a transaction waits for a lock. */
const untilLockWait = () =>
  expect
    .poll(
      async () => {
        const [row] = await world.hot<{ n: number }[]>`
          select count(*)::int as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        return row?.n ?? 0;
      },
      { timeout: 10_000 },
    )
    .toBeGreaterThan(0);

test("a duplicate with another payload also waits, then gets 409", async () => {
  const key = randomUUID();
  const first = await holdKey(key, { ...EMAIL, subject: "Other" });
  const waiting = post(key);
  await untilLockWait();
  await first.commit();
  expect((await waiting).body).toMatchObject({ statusCode: 409, name: "invalid_idempotent_request" });
});

test("a duplicate gets 409 if the first request takes longer than a statement may wait for a lock", async () => {
  expect(await world.hot`show lock_timeout`).toEqual([{ lock_timeout: "10s" }]);
  const [{ name } = { name: "" }] = await world.hot<{ name: string }[]>`select current_database() as name`;
  await world.hot.unsafe(`alter role current_user in database "${name}" set lock_timeout = '100ms'`);
  // Connections behind a pooler have the limits of their role.
  const { deps, close } = openDeps(world.databaseUrl, { pooled: true });
  const impatient = await startRest(deps);
  const key = randomUUID();
  const first = await holdKey(key);
  const headers = { "idempotency-key": key };
  const reply = await callApi(impatient.baseUrl, "POST", "/api/emails", { token, body: EMAIL, headers });
  expect(reply.body).toMatchObject({ statusCode: 409, name: "concurrent_idempotent_requests" });
  await impatient.close();
  await close();
  await first.commit();
  expect((await post(key)).body).toEqual({ id: "of the first request" });
});
