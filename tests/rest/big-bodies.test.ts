import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPort } from "#server/boot/postgres/server";
import { type Child, startChild } from "../support/child";
import { compiledOf } from "../support/program";
import { type CallOptions, callApi } from "../support/rest";
import { createWorld, type World } from "../support/world";

/*
 * The product's own web process with a small heap: bodies that are too much for it together come all at once, and it lives.
 */
const bodyMaxMb = 6;
const heapMb = 256;

const MAIL = {
  from: "ann@posthorn.test",
  to: "delivered@posthorn.test",
  subject: "Hello",
  html: "<p>Hello</p>",
};

let world: World;
let token: string;
let child: Child<{ port: number }>;
let url: string;
beforeAll(async () => {
  world = await createWorld();
  ({ token } = await world.key());
  const port = await findPort();
  child = startChild<{ port: number }>(await compiledOf("tests/support/web-process.ts"), [], {
    DATABASE_URL: world.databaseUrl,
    PORT: String(port),
    POSTHORN_URL: "http://localhost:3000",
    POSTHORN_SECRET: "only for tests, and long enough for one",
    POSTHORN_BODY_MAX_MB: String(bodyMaxMb),
    SMTP_URL: "capture:",
    NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
  });
  await child.hear((told): told is { port: number } => "port" in told);
  url = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await child.kill();
  await world.close();
});

const CHUNKED = { "transfer-encoding": "chunked", "content-length": [] };

async function post(raw: string, headers: CallOptions["headers"] = {}): Promise<number> {
  const { status } = await callApi(url, "POST", "/api/emails", { token, raw, headers });
  return status;
}

/** Many at once; answers how often each status came. */
async function storm(count: number, raw: string, headers?: CallOptions["headers"]) {
  const tally: Record<number, number> = {};
  const answers = await Promise.all(Array.from({ length: count }, () => post(raw, headers)));
  for (const status of answers) tally[status] = (tally[status] ?? 0) + 1;
  return tally;
}

async function expectAlive() {
  expect(child.hasDied(), child.output()).toBe(false);
  expect(await post(JSON.stringify(MAIL))).toBe(200);
}

const withFile = (content: unknown) =>
  JSON.stringify({ ...MAIL, attachments: [{ filename: "a.bin", content }] });
/** Just below what one request may have. */
const fileAsNumbers = withFile(Array.from({ length: (bodyMaxMb * 1024 * 1024) / 4 - 1_000 }, () => 200));
const fileAsBase64 = withFile(Buffer.alloc(bodyMaxMb * 780_000, 7).toString("base64"));
const numbersForRecipients = `{"to":[${"1,".repeat(bodyMaxMb * 520_000)}1]}`;

describe("a process lives through large bodies, many at a time, and then takes mail as before:", () => {
  test.each<[what: string, raw: string, headers: CallOptions["headers"], allowed: number[]]>([
    ["files as lists of numbers", fileAsNumbers, {}, [200, 503]],
    ["the same of unknown length", fileAsNumbers, CHUNKED, [200, 503]],
    ["files in base64", fileAsBase64, {}, [200, 503]],
    ["long texts", JSON.stringify({ ...MAIL, html: "ü ".repeat(bodyMaxMb * 300_000) }), {}, [200, 503]],
    ["millions of numbers for recipients", numbersForRecipients, {}, [422, 503]],
    ["what is no JSON", "[".repeat(bodyMaxMb * 1_000_000), {}, [422, 503]],
    ["what is beyond the limit as it comes", "x".repeat(bodyMaxMb * 1_100_000), CHUNKED, [413, 503]],
    ["what is beyond it by its own word", "x".repeat(bodyMaxMb * 1_100_000), {}, [413]],
  ])("%s", { timeout: 240_000 }, async (_, raw, headers, allowed) => {
    const tally = await storm(16, raw, headers);
    for (const status of Object.keys(tally)) expect(allowed).toContain(Number(status));
    expect(tally[allowed[0] ?? 0]).toBeGreaterThan(0);
    await expectAlive();
  });

  test("files under an idempotency key", { timeout: 240_000 }, async () => {
    const first = await post(fileAsNumbers, { "idempotency-key": "large" });
    expect(first).toBe(200);
    const tally = await storm(6, fileAsNumbers, { "idempotency-key": "large" });
    for (const status of Object.keys(tally)) expect([200, 503]).toContain(Number(status));
    await expectAlive();
  });
});
