import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dispatch } from "#server/rest/dispatch";
import { createWorld, type World } from "../support/world";
import { beginBody } from "./half-sent";

/** Limits short enough for a test. Each test uses one of them and sets the other very high. */
const farMs = 600_000;

const begin = (world: World, token: string, length: number | null, bytes: string) =>
  beginBody(world.baseUrl, {
    path: "/api/emails",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(length === null ? {} : { "content-length": String(length) }),
    },
    bytes,
  });

const LENGTHS: [what: string, length: number | null][] = [
  ["a small", 1_000],
  ["a large", 3_000_000],
  ["one of unknown length", null],
];

describe("a body that stalls is 408, and its connection closes:", () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await createWorld({ bodyPatience: { idleMs: 300, graceMs: 300 } });
    ({ token } = await world.key());
  });
  afterAll(() => world.close());

  test.each(LENGTHS)("%s", async (_, length) => {
    const before = await world.rowCounts();
    const call = await begin(world, token, length, "{");
    expect(await call.answered).toBe(408);
    // Bytes that arrive later are neither a body nor another request.
    await call.more('"x"}GET / HTTP/1.1\r\n\r\n').catch(() => {});
    await expect.poll(() => call.isClosed()).toBe(true);
    expect(await world.rowCounts()).toEqual(before);
  });
});

test("a body that stalls in Next, which passes it on as a stream, is 408", async () => {
  const world = await createWorld({ bodyPatience: { idleMs: 300, graceMs: 300 } });
  const { token } = await world.key();
  for (const [, length] of LENGTHS) {
    const request = new Request("https://mail.example.com/api/emails", {
      method: "POST",
      body: new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) }),
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(length === null ? {} : { "content-length": String(length) }),
      },
      duplex: "half",
    } as RequestInit);
    const { status, headers } = await dispatch(world.deps, request, { address: null });
    expect([status, headers.get("connection")]).toEqual([408, "close"]);
  }
  await world.close();
});

describe("a body that never pauses but arrives too slowly is 408:", () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await createWorld({ bodyPatience: { idleMs: farMs, graceMs: 500 } });
    ({ token } = await world.key());
  });
  afterAll(() => world.close());

  test.each(LENGTHS)("%s", async (_, length) => {
    const call = await begin(world, token, length, "{");
    while (call.status() === null) {
      await call.more(" ");
      await wait(20);
    }
    expect(call.status()).toBe(408);
  });

  test("a body that arrives fast enough is read, however long it takes", async () => {
    const newEmail = { from: "ann@backstamp.test", to: "delivered@backstamp.test", subject: "Hello" };
    const text = JSON.stringify({ ...newEmail, html: "x".repeat(300_000) });
    const call = await begin(world, token, null, text.slice(0, 200_000));
    await wait(1_500);
    expect(call.status()).toBe(null);
    expect(await call.finish(text.slice(200_000))).toBe(200);
  });
});
