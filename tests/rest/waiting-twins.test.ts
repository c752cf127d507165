import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertSubmissions } from "#db/accept";
import { type Database, openDatabase } from "#db/client";
import { fingerprintOf } from "#server/rest/idempotency";
import { createWorld, type World } from "../support/world";

const heldKeys = 6;

let world: World;
let token: string;
/** Another process's connections. */
let elsewhere: Database;
beforeAll(async () => {
  world = await createWorld({ connectionsMax: 12 });
  ({ token } = await world.key({ limits: { "POST /api/emails": 1_000 } }));
  elsewhere = openDatabase(world.databaseUrl, { connectionsMax: 2 * heldKeys + 2 });
});
afterAll(async () => {
  await elsewhere.close();
  await world.close();
});

const MAIL = {
  from: "ann@posthorn.test",
  to: "delivered@posthorn.test",
  subject: "Once",
  html: "<p>Hello</p>",
};
const post = (key?: string) =>
  world.api("POST", "/api/emails", {
    token,
    body: MAIL,
    headers: key === undefined ? {} : { "idempotency-key": key },
  });

/** The first of two twins, by the statement that every process writes with; it commits, or not, when it is told to. */
async function beginFirst(key: string) {
  let settle = (_: "commit" | "fail") => {};
  const end = new Promise<"commit" | "fail">((resolve) => {
    settle = resolve;
  });
  let isWriting = () => {};
  const writing = new Promise<void>((resolve) => {
    isWriting = resolve;
  });
  const ended = elsewhere.hot
    .begin(async (tx) => {
      // The statement alone is what matters: its options are the connection's.
      const hot = Object.assign(tx, { options: elsewhere.hot.options }) as unknown as Database["hot"];
      const record = {
        teamId: world.id,
        route: "POST /api/emails",
        key,
        fingerprint: fingerprintOf(MAIL),
        status: 200,
        answer: { id: `first of ${key}` },
      };
      expect(await insertSubmissions(hot, [{ mails: [], idempotency: record }])).toEqual(["written"]);
      isWriting();
      if ((await end) === "fail") throw new Error("killed");
    })
    .catch(() => {});
  await Promise.race([writing, ended]);
  return async (how: "commit" | "fail") => {
    settle(how);
    await ended;
  };
}

test("twins that wait for their first ones hold up no other mail, and get what those come to", async () => {
  const keys = Array.from({ length: heldKeys }, () => randomUUID());
  const firsts = await Promise.all(keys.map(beginFirst));
  let answered = 0;
  const twins = [...keys, ...keys].map(async (key) => {
    const answer = await post(key);
    answered++;
    return { key, answer };
  });

  for (let round = 0; round < 20; round++) {
    const [plain, keyed] = await Promise.all([post(), post(randomUUID())]);
    expect([plain.status, keyed.status]).toEqual([200, 200]);
  }
  expect(answered).toBe(0);

  await Promise.all(firsts.map((end, n) => end(n % 2 === 0 ? "commit" : "fail")));
  const ids = new Map<string, unknown>();
  for (const { key, answer } of await Promise.all(twins)) {
    expect(answer.status).toBe(200);
    const { id } = answer.body;
    expect(id).toBe(ids.get(key) ?? id);
    ids.set(key, id);
    expect(id === `first of ${key}`).toBe(keys.indexOf(key) % 2 === 0);
  }
});
