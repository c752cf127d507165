import type { ServerResponse } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { smallBodyBytes } from "#server/platform/limits/body-budget";
import { forAllTests } from "../support/fixtures";
import { startHttpSink } from "../support/servers/http-sink";
import { createWorld, type TestTeam } from "../support/world";

const bodyMaxBytes = 1024 * 1024;

const world = forAllTests(() => createWorld({ bodyMaxBytes, bodyPatience: { memoryWaitMsMax: 2_000 } }));
let other: TestTeam;
const files = forAllTests(() => startHttpSink(() => (response: ServerResponse) => unanswered.push(response)));
let token: string;
/** The requests for a file without a response yet. */
const unanswered: ServerResponse[] = [];
beforeAll(async () => {
  other = await world.otherTeam();
  ({ token } = await world.key());
});

const EMAIL = { from: "ann@backstamp.test", to: "delivered@backstamp.test", subject: "Hello" };
const CHUNKED = { "transfer-encoding": "chunked", "content-length": [] };
const CSV = { "content-type": "text/csv" };

const lines = (count: number) => Array.from({ length: count }, (_, n) => `someone-${n}@example.com`);
const largeCsv = lines(smallBodyBytes / 20).join("\n");
const upload = (raw: string, headers = {}, by = token) =>
  world.api("POST", "/api/suppressions/csv", { token: by, raw, headers: { ...CSV, ...headers } });

test("a request uses the memory of its body until its end: large ones of the same team wait, all others do not", async () => {
  const newEmail = world.api("POST", "/api/emails", {
    token,
    body: {
      ...EMAIL,
      html: "x".repeat(bodyMaxBytes - 200_000),
      attachments: [{ path: `http://127.0.0.1:${files.port}/report.pdf` }],
    },
  });
  await files.waitFor(1);

  for (const { status, body } of await Promise.all([upload(largeCsv), upload(largeCsv, CHUNKED)])) {
    expect(status).toBe(503);
    expect(body.message).toMatch(/^Too many large requests are in progress\. Retry in a few seconds/);
  }
  expect((await upload(lines(10).join("\n"))).status).toBe(200);
  const { token: theirs } = await other.key();
  expect((await upload(largeCsv, {}, theirs)).status).toBe(200);

  for (const response of unanswered) response.end("%PDF-1.7");
  expect((await newEmail).status).toBe(200);
  expect((await upload(largeCsv)).status).toBe(200);
  expect((await upload(largeCsv, CHUNKED)).status).toBe(200);
});

test("large requests of one team that together exceed its share take turns, and all are accepted", async () => {
  const body = { ...EMAIL, html: "x".repeat(700_000) };
  const sends = Array.from({ length: 6 }, () => world.api("POST", "/api/emails", { token, body }));
  expect((await Promise.all(sends)).map(({ status }) => status)).toEqual(Array(6).fill(200));
});
