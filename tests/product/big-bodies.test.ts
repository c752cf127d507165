import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installationSecret } from "../support/deps";
import { forAllTests } from "../support/fixtures";
import { type Child, startChild } from "../support/processes/child";
import { compiledOf } from "../support/processes/program";
import { type CallOptions, callApi } from "../support/rest";
import { freePort } from "../support/servers/free-port";
import { createWorld } from "../support/world";

/*
 * The real web process with a small heap survives concurrent bodies that exceed its memory together.
 */
const bodyMaxMb = 3;
const heapMb = 112;

const EMAIL = {
  from: "ann@backstamp.test",
  to: "delivered@backstamp.test",
  subject: "Hello",
  html: "<p>Hello</p>",
};

const world = forAllTests(() => createWorld());
let token: string;
let child: Child<{ port: number }>;
let url: string;
beforeAll(async () => {
  ({ token } = await world.key());
  const port = await freePort();
  child = startChild<{ port: number }>(await compiledOf("tests/support/processes/web-process.ts"), [], {
    DATABASE_URL: world.databaseUrl,
    PORT: String(port),
    BACKSTAMP_URL: "http://localhost:3000",
    BACKSTAMP_SECRET: installationSecret,
    BACKSTAMP_BODY_MAX_MB: String(bodyMaxMb),
    SMTP_URL: "capture:",
    NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
  });
  await child.waitFor((message): message is { port: number } => "port" in message);
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => child.kill());

const CHUNKED = { "transfer-encoding": "chunked", "content-length": [] };

async function post(raw: string, headers: CallOptions["headers"] = {}): Promise<number> {
  const { status } = await callApi(url, "POST", "/api/emails", { token, raw, headers });
  return status;
}

/** Sends `count` requests at once; returns how often each status occurred. */
async function burst(count: number, raw: string, headers?: CallOptions["headers"]) {
  const tally: Record<number, number> = {};
  const answers = await Promise.all(Array.from({ length: count }, () => post(raw, headers)));
  for (const status of answers) tally[status] = (tally[status] ?? 0) + 1;
  return tally;
}

async function expectAlive() {
  expect(child.hasDied(), child.output()).toBe(false);
  expect(await post(JSON.stringify(EMAIL))).toBe(200);
}

const withFile = (content: unknown) =>
  JSON.stringify({ ...EMAIL, attachments: [{ filename: "a.bin", content }] });
/** Slightly below the maximum size of one request. */
const fileAsNumbers = withFile(Array.from({ length: (bodyMaxMb * 1024 * 1024) / 4 - 1_000 }, () => 200));
const fileAsBase64 = withFile(Buffer.alloc(bodyMaxMb * 780_000, 7).toString("base64"));
const numbersForRecipients = `{"to":[${"1,".repeat(bodyMaxMb * 520_000)}1]}`;

describe("a process survives many concurrent large bodies and accepts email afterwards:", () => {
  test.each<[what: string, raw: string, headers: CallOptions["headers"], allowed: number[]]>([
    ["files as arrays of numbers", fileAsNumbers, {}, [200, 503]],
    ["the same without Content-Length", fileAsNumbers, CHUNKED, [200, 503]],
    ["files in base64", fileAsBase64, {}, [200, 503]],
    ["long texts", JSON.stringify({ ...EMAIL, html: "ü ".repeat(bodyMaxMb * 300_000) }), {}, [200, 503]],
    ["millions of numbers for recipients", numbersForRecipients, {}, [422, 503]],
    ["invalid JSON", "[".repeat(bodyMaxMb * 1_000_000), {}, [422, 503]],
    ["a body without Content-Length above the limit", "x".repeat(bodyMaxMb * 1_100_000), CHUNKED, [413, 503]],
    ["a declared length above the limit", "x".repeat(bodyMaxMb * 1_100_000), {}, [413]],
  ])("%s", { timeout: 240_000 }, async (_, raw, headers, allowed) => {
    const tally = await burst(16, raw, headers);
    for (const status of Object.keys(tally)) expect(allowed).toContain(Number(status));
    expect(tally[allowed[0] ?? 0]).toBeGreaterThan(0);
    await expectAlive();
  });

  test("files under an idempotency key", { timeout: 240_000 }, async () => {
    const first = await post(fileAsNumbers, { "idempotency-key": "large" });
    expect(first).toBe(200);
    const tally = await burst(6, fileAsNumbers, { "idempotency-key": "large" });
    for (const status of Object.keys(tally)) expect([200, 503]).toContain(Number(status));
    await expectAlive();
  });
});
