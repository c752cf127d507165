import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import { openHttpServer } from "#server/startup/http/node";
import { createRestApi } from "#server/startup/http/rest-endpoint";
import { openWorld } from "../support/world";

/** Statuses of the handled requests, whose clients are gone. */
let handled: Promise<number>[];

const world = await openWorld();
const { token } = await world.key();
const api = createRestApi(world.deps);
const server = await openHttpServer({
  host: "127.0.0.1",
  port: 0,
  apiHost: null,
  rest: Promise.resolve({
    ...api,
    // Handling begins after the connection has closed, as for a request that waited for the database.
    answer: async (request, peer) => {
      if (!request.signal.aborted)
        await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      const response = api.answer(request, peer);
      handled.push(response.then(({ status }) => status));
      return response;
    },
  }),
  pages: { request: async (_, outgoing) => void outgoing.end(), upgrade: async () => {} },
  upgrades: false,
  log: silentLog,
});
afterAll(() => server.close(1_000));

const BROKEN = [
  ["an invalid chunk", "Transfer-Encoding: chunked\r\n\r\nzz\r\n"],
  ["no chunk", "Transfer-Encoding: chunked\r\n\r\n"],
  ["fewer bytes than declared", "Content-Length: 20\r\n\r\n"],
  ["a part of a large body", `Content-Length: 2000000\r\n\r\n{`],
] as const;

/** Sends a request that ends before its body does, and waits until it was handled. */
async function sendBroken(request: string, headers: string[], ending: string) {
  handled = [];
  const socket = connect(server.port, "127.0.0.1");
  socket.end(`${[`${request} HTTP/1.1`, "Host: localhost", ...headers].join("\r\n")}\r\n${ending}`);
  await text(socket).catch(() => "");
  await expect.poll(() => handled.length).toBe(1);
  expect([400, 413]).toContain(await handled[0]);
}

test.each(BROKEN)("a body with %s changes nothing, also where a body is optional", async (_, ending) => {
  for (const call of ["POST /api/api-keys/{id}/rotate", "DELETE /api/api-keys/{id}"]) {
    const { id } = await world.key({ scopes: ["emails:send"] });
    const headers = [`Authorization: Bearer ${token}`, "Content-Type: application/json"];
    await sendBroken(call.replace("{id}", id), headers, ending);
    const rows = await world.hot`
      select revoked_at, expires_at from api_keys where ${id} in (id, rotated_from)`;
    expect([...rows]).toEqual([{ revoked_at: null, expires_at: null }]);
  }
});

test.each(BROKEN)("a one-click unsubscribe whose body has %s changes nothing", async (_, ending) => {
  const emailId = "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2";
  const who = { teamId: world.id, emailId, address: "ben@example.net" };
  const { pathname } = new URL(world.deps.recipientTokens.unsubscribeLink(who));
  await sendBroken(`POST ${pathname}`, ["Content-Type: application/x-www-form-urlencoded"], ending);
  expect(await world.hot`select * from suppressions`).toEqual([]);
});
