import { afterEach, describe, expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { callbackPathOf } from "#server/services/callbacks/secrets";
import { openCallbackApp } from "../rest/callback-app";
import { fakePostmark, fakeResend } from "../support/servers/providers";
import { beginBody, type HalfSent } from "./half-sent";

/** The budget has room for two bodies of the maximum size. */
const megabyte = 1024 * 1024;
const largeText = "x".repeat(300 * 1024);

const resend = fakeResend();
const app = await openCallbackApp({ bodyMaxBytes: megabyte, trustedHops: 1 });
const relayId = await app.relayOf(resend);
const relayPath = callbackPathOf(relayId);
const { token } = await app.world.key();
const other = await app.world.otherTeam();

let open: HalfSent[] = [];
afterEach(() => {
  for (const call of open) call.close();
  open = [];
});

/** Starts a body with the maximum declared length. */
async function begin(path: string, bytes: string, headers: Record<string, string> = {}, method = "POST") {
  const json = { "content-type": "application/json", "content-length": String(megabyte) };
  const call = await beginBody(app.world.baseUrl, { path, bytes, headers: { ...json, ...headers } }, method);
  open.push(call);
  return call;
}

const fromAddress = (n: number) => ({ "x-forwarded-for": `192.0.2.${n}` });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const statuses = () => open.map((call) => call.status());

async function sendLarge(key = token): Promise<number> {
  const newEmail = {
    from: "ann@backstamp.test",
    to: "delivered@backstamp.test",
    subject: "Hello",
    html: largeText,
  };
  return (await app.world.api("POST", "/api/emails", { token: key, body: newEmail })).status;
}

/** A complete callback of 300 KB. */
async function callBackLarge(n: number): Promise<number> {
  const { raw, headers } = resend.call({ type: "email.sent", text: largeText }, app.world.clock.now());
  return (await app.post(relayId, { raw, headers: { ...headers, ...fromAddress(n) } })).status;
}

describe("while bodies from several addresses are incomplete, a request of 300 KB succeeds", () => {
  test("if they declare more than the whole budget, and all stay open", async () => {
    for (let n = 1; n <= 8; n++) await begin(relayPath, "{", fromAddress(n));
    expect(await sendLarge()).toBe(200);
    expect(statuses()).toEqual(Array(8).fill(null));
  });

  test("if they fill the budget: the slowest are rejected, the others stay open", async () => {
    for (let n = 1; n <= 4; n++) await begin(relayPath, `"${"x".repeat(640 * 1024)}`, fromAddress(n));
    const first = await Promise.race(open.map(({ answered }) => answered));
    expect(first).toBe(503);
    expect(await sendLarge()).toBe(200);
    const ended = statuses().filter((status) => status !== null);
    expect(ended.length).toBeLessThanOrEqual(2);
    expect(new Set(ended)).toEqual(new Set([503]));
  });

  test("if they use the same key", async () => {
    for (let n = 1; n <= 4; n++) await begin("/api/emails", "{", bearer(token));
    expect(await sendLarge()).toBe(200);
    expect(statuses()).toEqual(Array(4).fill(null));
  });
});

test("a team cannot use more than its share, so another team's bodies succeed and none is rejected", async () => {
  for (let n = 1; n <= 2; n++)
    await begin("/api/emails", `{"html":"${"x".repeat(450 * 1024)}`, bearer(token));
  const { token: theirs } = await other.key();
  expect(await Promise.all([sendLarge(theirs), sendLarge(theirs)])).toEqual([200, 200]);
  expect(statuses()).toEqual([null, null]);
});

test("an address cannot use more than its share, so another address's body succeeds and none is rejected for it", async () => {
  const bytes = "x".repeat(900 * 1024);
  for (let n = 1; n <= 2; n++) await begin(relayPath, bytes, fromAddress(1));
  // The budget has room for both, the share for one of them.
  expect(await Promise.race(open.map(({ answered }) => answered))).toBe(503);
  expect(await callBackLarge(2)).toBe(200);
  const remaining = open.find((call) => call.status() === null);
  // It is not signed, so 401 is the response to a body that was read to its end.
  expect(await remaining?.finish("x".repeat(megabyte - bytes.length))).toBe(401);
});

describe("the caller is authenticated before the body is read:", () => {
  test("a missing relay is 401 after the first byte", async () => {
    const call = await begin(callbackPathOf(newId()), "{");
    expect(await call.answered).toBe(401);
  });

  test("a wrong secret in a header is 401 after the first byte, the correct one is not", async () => {
    const postmark = fakePostmark();
    const path = callbackPathOf(await app.relayOf(postmark));
    const wrong = await begin(path, "{", { "x-callback-secret": "a guessed secret" });
    const right = await begin(path, "{", { "x-callback-secret": postmark.given.secret ?? "" });
    expect(await wrong.answered).toBe(401);
    expect(right.status()).toBe(null);
  });

  test.each([
    ["GET", "/api/health"],
    ["GET", "/api/openapi.json"],
    ["POST", "/api/cron/tick"],
  ])("%s %s rejects a large body without reserving memory for it", async (method, path) => {
    for (let n = 1; n <= 8; n++) await begin(path, "{", fromAddress(n), method);
    expect(await sendLarge()).toBe(200);
    for (const { answered } of open.slice(0, 1)) expect([401, 404, 413]).toContain(await answered);
  });
});
