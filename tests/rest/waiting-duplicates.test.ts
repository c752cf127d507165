import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { fingerprintOf } from "#server/services/emails/accept/fingerprint";
import { insertSubmissions } from "#server/services/emails/accept/insert-submissions";
import { openWorld } from "../support/world";
import { EMAIL as VALID } from "./test-app";

const heldKeys = 6;

const world = await openWorld({ connectionsMax: 12 });
const { token } = await world.key({ limits: { "POST /api/emails": 1_000 } });
/** The connections of another process. */
const elsewhere = openDatabase(world.databaseUrl, { connectionsMax: 2 * heldKeys + 2 });
afterAll(() => elsewhere.close());

const EMAIL = { ...VALID, subject: "Once" };
const post = (key?: string) =>
  world.api("POST", "/api/emails", {
    token,
    body: EMAIL,
    headers: key === undefined ? {} : { "idempotency-key": key },
  });

/**
 * Starts the first of two duplicates with the real insert statement; the returned function commits it or
 * rolls it back.
 */
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
      // Only the statement matters; its options belong to the connection.
      const hot = Object.assign(tx, { options: elsewhere.hot.options }) as unknown as Database["hot"];
      const record = {
        teamId: world.id,
        route: "POST /api/emails",
        key,
        fingerprint: fingerprintOf(EMAIL),
        status: 200,
        answer: { id: `first of ${key}` },
      };
      expect(await insertSubmissions(hot, [{ emails: [], idempotency: record }])).toEqual(["written"]);
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

test("duplicates that wait for the first requests block no other email, and get their responses", async () => {
  const keys = Array.from({ length: heldKeys }, () => randomUUID());
  const firsts = await Promise.all(keys.map(beginFirst));
  let answered = 0;
  const duplicates = [...keys, ...keys].map(async (key) => {
    const answer = await post(key);
    answered++;
    return { key, answer };
  });

  for (let round = 0; round < 8; round++) {
    const [plain, keyed] = await Promise.all([post(), post(randomUUID())]);
    expect([plain.status, keyed.status]).toEqual([200, 200]);
  }
  expect(answered).toBe(0);

  await Promise.all(firsts.map((end, n) => end(n % 2 === 0 ? "commit" : "fail")));
  const ids = new Map<string, unknown>();
  for (const { key, answer } of await Promise.all(duplicates)) {
    expect(answer.status).toBe(200);
    const { id } = answer.body;
    expect(id).toBe(ids.get(key) ?? id);
    ids.set(key, id);
    expect(id === `first of ${key}`).toBe(keys.indexOf(key) % 2 === 0);
  }
});
