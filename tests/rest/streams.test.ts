import { request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Facts, Log } from "#server/log";
import { createDispatch } from "#server/rest/dispatch";
import { withApi } from "#server/rest/route";
import { streamOf } from "#server/stream";
import { callApi, callRaw, type RestServer, startRest } from "../support/rest";
import { createWorld, type World } from "../support/world";

const lines: { event: string; facts: Facts }[] = [];
const record = (event: string, facts: Facts = {}) => void lines.push({ event, facts });
const log: Log = { info: record, warn: record, error: record };

/** What a streaming route was asked for, and whether it was told that nobody reads on. */
const seen = { begun: 0, given: 0, ended: 0 };

const getStream = withApi(
  {
    method: "GET",
    path: "/api/stream",
    access: { scope: "suppressions:read" },
    tier: "other",
    summary: "Answer with a stream",
    answers: "text/csv; charset=utf-8",
  },
  async ({ header }) => ({ stream: partsOf(header("x-fate") ?? ""), filename: "parts.csv" }),
);

async function* partsOf(fate: string): AsyncGenerator<string | Uint8Array> {
  seen.begun++;
  try {
    for (let n = 0; fate === "endless" || n < 3; n++) {
      if (fate === "broken" && n === 2) throw new Error("the database went away");
      seen.given++;
      yield n % 2 ? new TextEncoder().encode("two\n") : "one\n".repeat(fate === "endless" ? 10_000 : 1);
      // Whoever takes the parts has other things to do in between.
      await wait(1);
    }
  } finally {
    seen.ended++;
  }
}

let world: World;
let server: RestServer;
let token: string;
beforeAll(async () => {
  world = await createWorld({ log });
  server = await startRest(world.deps, createDispatch([getStream]));
  ({ token } = await world.key());
});
afterAll(async () => {
  await server.close();
  await world.close();
});

const get = (fate: string, method = "GET") =>
  callApi(server.baseUrl, method, "/api/stream", { token, headers: { "x-fate": fate } });

test("a stream comes whole, of texts and bytes, with the headers of every answer", async () => {
  const reply = await get("whole");
  expect(reply).toMatchObject({ status: 200, text: "one\ntwo\none\n" });
  expect(reply.headers).toMatchObject({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": 'attachment; filename="parts.csv"',
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-ratelimit-limit": "1000000",
  });
});

test("HEAD is answered without beginning it", async () => {
  const before = seen.begun;
  const reply = await get("whole", "HEAD");
  expect(reply).toMatchObject({ status: 200, text: "" });
  expect(reply.headers["content-type"]).toBe("text/csv; charset=utf-8");
  expect(seen.begun).toBe(before);
});

test("one that breaks is a broken answer and never a short one, and the log knows why", async () => {
  await expect(get("broken")).rejects.toThrow(/aborted|hang up|terminated|ECONNRESET/);
  expect(lines).toContainEqual({
    event: "rest.stream_broken",
    facts: expect.objectContaining({ requestId: expect.any(String) }),
  });
});

test("one that nobody reads any more ends, and was read only as fast as it was taken", async () => {
  const before = { ...seen };
  const { hostname, port } = new URL(server.baseUrl);
  const headers = { authorization: `Bearer ${token}`, "x-fate": "endless" };
  await new Promise<void>((resolve, reject) => {
    const call = request({ hostname, port, path: "/api/stream", headers }, (response) => {
      response.once("data", () => {
        // Nothing is taken from here on: sockets fill up, and then nothing may be asked for.
        response.pause();
        resolve();
        void expect
          .poll(
            async () => {
              const given = seen.given;
              await wait(300);
              return seen.given - given;
            },
            { timeout: 20_000 },
          )
          .toBe(0)
          .finally(() => call.destroy());
      });
    });
    call.on("error", reject);
    call.end();
  });
  await expect.poll(() => seen.ended - before.ended, { timeout: 30_000 }).toBe(1);
});

test("a reader who goes away while a piece is fetched is no fault", async () => {
  const faults: unknown[] = [];
  let hand: (piece: string) => void = () => {};
  const piece = new Promise<string>((resolve) => {
    hand = resolve;
  });
  async function* parts() {
    yield await piece;
  }
  const reader = streamOf(parts(), (fault) => faults.push(fault)).getReader();
  const read = reader.read();
  const gone = reader.cancel();
  hand("too late");
  expect(await read).toEqual({ value: undefined, done: true });
  await gone;
  expect(faults).toEqual([]);
});

test("a file whose sender goes away in the middle leaves nothing behind", async () => {
  const head = [
    "POST /api/suppressions/csv HTTP/1.1",
    "Host: localhost",
    `Authorization: Bearer ${token}`,
    "Content-Type: text/csv",
    "Content-Length: 1000",
    "",
    "ann@example.com\n",
  ].join("\r\n");
  await callRaw(world.baseUrl, head);
  await world.deps.requestLog.flush();
  expect(await world.deps.hot`select 1 from suppressions`).toHaveLength(0);
});
