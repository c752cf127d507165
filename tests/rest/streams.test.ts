import { request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { streamOf } from "#server/platform/http/stream";
import type { Facts, Log } from "#server/platform/log";
import { createDispatch } from "#server/rest/dispatch";
import { withApi } from "#server/rest/pipeline/route";
import { callApi, callRaw, startRest } from "../support/rest";
import { openWorld } from "../support/world";

const lines: { event: string; facts: Facts }[] = [];
const record = (event: string, facts: Facts = {}) => void lines.push({ event, facts });
const log: Log = { info: record, warn: record, error: record };

/** Counts started streams, produced parts, and streams that were ended. */
const seen = { started: 0, given: 0, ended: 0 };

const getStream = withApi({
  route: "GET /api/stream",
  access: { scope: "suppressions:read" },
  summary: "Return a stream",
  responseType: "text/csv; charset=utf-8",
  handle: async ({ header }) => ({ stream: partsOf(header("x-fate") ?? ""), filename: "parts.csv" }),
});

async function* partsOf(fate: string): AsyncGenerator<string | Uint8Array> {
  seen.started++;
  try {
    for (let n = 0; fate === "endless" || n < 3; n++) {
      if (fate === "broken" && n === 2) throw new Error("the database went away");
      seen.given++;
      yield n % 2 ? new TextEncoder().encode("two\n") : "one\n".repeat(fate === "endless" ? 10_000 : 1);
      // Yield to other tasks between the parts.
      await wait(1);
    }
  } finally {
    seen.ended++;
  }
}

const world = await openWorld({ log });
const server = await startRest(world.deps, createDispatch([getStream]));
const { token } = await world.key();
afterAll(() => server.close());

const get = (fate: string, method = "GET") =>
  callApi(server.baseUrl, method, "/api/stream", { token, headers: { "x-fate": fate } });

test("a stream of strings and bytes arrives completely, with the common headers", async () => {
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

test("HEAD does not start the stream", async () => {
  const before = seen.started;
  const reply = await get("whole", "HEAD");
  expect(reply).toMatchObject({ status: 200, text: "" });
  expect(reply.headers["content-type"]).toBe("text/csv; charset=utf-8");
  expect(seen.started).toBe(before);
});

test("a failed stream is a broken response, never a short one, and the error is logged", async () => {
  await expect(get("broken")).rejects.toThrow(/aborted|hang up|terminated|ECONNRESET/);
  expect(lines).toContainEqual({
    event: "rest.stream_broken",
    facts: expect.objectContaining({ requestId: expect.any(String) }),
  });
});

test("an abandoned stream ends, and was read only at the speed of the client", async () => {
  const before = { ...seen };
  const { hostname, port } = new URL(server.baseUrl);
  const headers = { authorization: `Bearer ${token}`, "x-fate": "endless" };
  await new Promise<void>((resolve, reject) => {
    const call = request({ hostname, port, path: "/api/stream", headers }, (response) => {
      response.once("data", () => {
        // The client stops reading: after the socket buffers are full, no further part may be requested.
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

test("a client that disconnects while a part is fetched causes no error", async () => {
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

test("an upload that is aborted in the middle stores nothing", async () => {
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
  expect(await world.hot`select 1 from suppressions`).toHaveLength(0);
});
