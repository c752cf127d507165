import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { idempotencyKeys } from "#db/schema/idempotency";
import { fingerprintOf } from "#server/rest/idempotency";
import { openDeps } from "../support/deps";
import { type RestServer, startRest } from "../support/rest";
import { postTwins } from "../support/twins";
import { createWorld, type World } from "../support/world";

let world: World;
let token: string;
/** A second process's door over the same database: pools, acceptor and limits of its own. */
let second: RestServer & { deps: ReturnType<typeof openDeps> };
beforeAll(async () => {
  world = await createWorld({ connectionsMax: 12 });
  ({ token } = await world.key());
  const deps = openDeps(world.databaseUrl);
  second = { ...(await startRest(deps.deps)), deps };
});
afterAll(async () => {
  await second.close();
  await second.deps.close();
  await world.close();
});

const MAIL = {
  from: "ann@posthorn.test",
  to: "delivered@posthorn.test",
  subject: "Once",
  html: "<p>Hello</p>",
};
const post = (key: string, body: unknown = MAIL, by = token) =>
  world.api("POST", "/api/emails", { token: by, body, headers: { "idempotency-key": key } });
const mailCount = async () => (await world.rowCounts()).emails;

test("a mail posted twice under one key is accepted once, and the second answer says that it is the first one", async () => {
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

test("50 equal posts at once are one mail with equal answers, round after round, over two doors", async () => {
  expect(await postTwins({ baseUrls: [world.baseUrl, second.baseUrl], token, rounds: 10 })).toEqual([]);
});

test("the same payload in other words is the same: order of names, blanks, escapes", async () => {
  const key = randomUUID();
  const first = await post(key);
  const reversed = Object.fromEntries(Object.entries(MAIL).reverse());
  const again = await world.api("POST", "/api/emails", {
    token,
    raw: JSON.stringify(reversed, null, 4).replace("Once", "\\u004fnce"),
    headers: { "idempotency-key": key },
  });
  expect(again.body).toEqual(first.body);
  expect(again.headers["idempotent-replayed"]).toBe("true");
});

test("another payload under a used key is 409, whatever single thing differs, and nothing is sent", async () => {
  const key = randomUUID();
  const mail = {
    ...MAIL,
    to: ["delivered@posthorn.test", "bounced@posthorn.test"],
    text: "Hello",
    headers: { "X-A": "1", "X-B": "2" },
    tags: [{ name: "a", value: "b" }],
  };
  await post(key, mail);
  const before = await world.rowCounts();
  const edits: [string, object][] = [
    ["to", { to: mail.to.toReversed() }],
    ["one recipient", { to: "delivered@posthorn.test" }],
    ["subject", { subject: "Once " }],
    ["html", { html: "<p>Hello.</p>" }],
    ["text", { text: "" }],
    ["no text", { text: null }],
    ["headers", { headers: { "X-A": "2", "X-B": "1" } }],
    ["fewer headers", { headers: { "X-A": "1" } }],
    ["tags", { tags: [{ name: "a", value: "c" }] }],
    ["cc", { cc: "delivered@posthorn.test" }],
  ];
  for (const [what, edit] of edits) {
    const { status, body } = await post(key, { ...mail, ...edit });
    expect({ what, status, name: body.name }).toEqual({
      what,
      status: 409,
      name: "invalid_idempotent_request",
    });
  }
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), async (html) => {
      fc.pre(html !== mail.html && !html.includes("\0"));
      expect((await post(key, { ...mail, html })).status).toBe(409);
    }),
    { numRuns: 30 },
  );
  expect(await world.rowCounts()).toEqual(before);
});

test("a key is the team's, not the API key's: a colleague's repetition is the same, another team's is its own", async () => {
  const key = randomUUID();
  const first = await post(key);
  const colleague = await world.key();
  expect((await post(key, MAIL, colleague.token)).body).toEqual(first.body);
  const stranger = await (await world.otherTeam()).key();
  const own = await post(key, MAIL, stranger.token);
  expect(own.status).toBe(200);
  expect(own.body).not.toEqual(first.body);
});

test("a key is forgotten after 24 hours and not before", async () => {
  const key = randomUUID();
  const first = await post(key);
  await world.elapse("23 hours 59 minutes");
  expect((await post(key)).body).toEqual(first.body);
  await world.elapse("2 minutes");
  const later = await post(key, { ...MAIL, subject: "Another" });
  expect(later.status).toBe(200);
  expect(later.body).not.toEqual(first.body);
  expect((await post(key, { ...MAIL, subject: "Another" })).body).toEqual(later.body);
});

test("a refused call leaves its key free", async () => {
  const key = randomUUID();
  expect((await post(key, { ...MAIL, to: "nobody" })).status).toBe(422);
  expect((await post(key, { ...MAIL, from: "ann@example.com" })).status).toBe(403);
  expect((await post(key)).status).toBe(200);
});

test("a replay still needs a key with the scope, and counts against the limit", async () => {
  const key = randomUUID();
  await post(key);
  const reader = await world.key({ scopes: ["emails:read"] });
  expect((await post(key, MAIL, reader.token)).status).toBe(403);
  const narrow = await world.key({ limits: { "POST /api/emails": 1 } });
  expect((await post(key, MAIL, narrow.token)).status).toBe(200);
  expect((await post(key, MAIL, narrow.token)).status).toBe(429);
});

test.each([
  ["empty", "", 400],
  ["257 characters", "k".repeat(257), 400],
  ["256 characters", `${randomUUID()}${"k".repeat(220)}`, 200],
  ["one character", "k", 200],
  ["blanks between", "my key: 1/2", 200],
  ["letters beyond ASCII", Buffer.from("schlüssel").toString("latin1"), 400],
])("a key of %s is answered %i", async (_, key, expected) => {
  const { status, body } = await post(key);
  expect(status).toBe(expected);
  if (expected === 400) {
    expect(body.name).toBe("invalid_idempotency_key");
    expect(body.message).toMatch(/`Idempotency-Key`.*1 to 256/);
  }
});

/** A promise and the ways to settle it. */
function createSignal() {
  let resolve = () => {};
  let reject = (_: Error) => {};
  const promise = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}

/** Holds a key as a twin does whose statement has not committed yet, until told how it ends. */
async function holdKey(key: string, body: unknown = MAIL) {
  const held = createSignal();
  const ended = createSignal();
  const writing = world.deps.db.transaction(async (tx) => {
    await tx.insert(idempotencyKeys).values({
      teamId: world.id,
      route: "POST /api/emails",
      key,
      fingerprint: fingerprintOf(body),
      status: 200,
      answer: { id: "of the twin" },
    });
    held.resolve();
    await ended.promise;
  });
  await Promise.race([held.promise, writing]);
  return {
    commit: async () => {
      ended.resolve();
      await writing;
    },
    fail: async () => {
      ended.reject(new Error("killed"));
      await writing.catch(() => {});
    },
  };
}

/** Until somebody waits for a lock. */
const untilSomebodyWaits = () =>
  expect
    .poll(
      async () => {
        const [row] = await world.deps.hot<{ n: number }[]>`
          select count(*)::int as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        return row?.n ?? 0;
      },
      { timeout: 10_000 },
    )
    .toBeGreaterThan(0);

test("a twin waits for the first to commit and then gives its answer", async () => {
  const key = randomUUID();
  const first = await holdKey(key);
  const waiting = post(key);
  await untilSomebodyWaits();
  await first.commit();
  const { status, body, headers } = await waiting;
  expect({ status, body }).toEqual({ status: 200, body: { id: "of the twin" } });
  expect(headers["idempotent-replayed"]).toBe("true");
});

test("a twin with another payload waits as well, and is 409 then", async () => {
  const key = randomUUID();
  const first = await holdKey(key, { ...MAIL, subject: "Other" });
  const waiting = post(key);
  await untilSomebodyWaits();
  await first.commit();
  expect((await waiting).body).toMatchObject({ statusCode: 409, name: "invalid_idempotent_request" });
});

test("a first request that fails leaves the key to its waiting twin", async () => {
  const key = randomUUID();
  const first = await holdKey(key);
  const waiting = post(key);
  await untilSomebodyWaits();
  await first.fail();
  const { status, headers } = await waiting;
  expect(status).toBe(200);
  expect(headers["idempotent-replayed"]).toBeUndefined();
});

test("a twin whose first takes longer than 10 s is told that it still runs", async () => {
  const key = randomUUID();
  const first = await holdKey(key);
  expect((await post(key)).body).toMatchObject({
    statusCode: 409,
    name: "concurrent_idempotent_requests",
  });
  await first.commit();
  expect((await post(key)).body).toEqual({ id: "of the twin" });
});
