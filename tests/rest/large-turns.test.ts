import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { smallBodyBytes } from "#server/rest/body-room";
import { createWorld, type World } from "../support/world";

let world: World;
let token: string;
beforeAll(async () => {
  world = await createWorld();
  ({ token } = await world.key());
});
afterAll(() => world.close());

const CHUNKED = { "transfer-encoding": "chunked", "content-length": [] };
const CSV = { "content-type": "text/csv" };
const MAIL = { from: "ann@posthorn.test", to: "delivered@posthorn.test", subject: "Hello" };

const lines = (count: number) => Array.from({ length: count }, (_, n) => `someone-${n}@example.com`);
const largeCsv = lines(smallBodyBytes / 20).join("\n");
const upload = (raw: string, headers = {}) =>
  world.api("POST", "/api/suppressions/csv", { token, raw, headers: { ...CSV, ...headers } });

/** A mail of unknown length of which more than a small body has come; it goes on when told to. */
async function beginLarge() {
  const call = request(`${world.baseUrl}/api/emails`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  });
  const answer = once(call, "response").then(([response]) => {
    response.resume();
    return response.statusCode as number;
  });
  const text = JSON.stringify({ ...MAIL, html: "x".repeat(smallBodyBytes * 2) });
  await new Promise<void>((resolve) => call.write(text.slice(0, -10), () => resolve()));
  return {
    finish: () => {
      call.end(text.slice(-10));
      return answer;
    },
  };
}

test("large files of addresses wait for their turn beside large mails, small ones do not", {
  timeout: 120_000,
}, async () => {
  const mails = await Promise.all([beginLarge(), beginLarge()]);
  // Until both have their place, which nothing tells but that there is none left.
  const both = () => Promise.all([upload(largeCsv), upload(largeCsv, CHUNKED)]);
  let refused = await both();
  for (let tries = 0; refused.some(({ status }) => status === 200) && tries < 20; tries++)
    refused = await both();
  for (const { status, body } of refused) {
    expect(status).toBe(503);
    expect(body.message).toMatch(/^Other large requests are being handled just now\. Try again in a moment/);
  }
  expect((await upload(lines(10).join("\n"))).status).toBe(200);

  expect(await Promise.all(mails.map(({ finish }) => finish()))).toEqual([200, 200]);
  expect((await upload(largeCsv)).status).toBe(200);
  expect((await upload(largeCsv, CHUNKED)).status).toBe(200);
});
