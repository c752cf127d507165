import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Log } from "#server/log";
import { type Desk, openDesk } from "./desk";

let desk: Desk;
const faults: unknown[] = [];
const log: Log = { info() {}, warn() {}, error: (event, facts) => faults.push({ event, facts }) };
beforeAll(async () => {
  desk = await openDesk({ domain: "linked.com", bodyMaxBytes: 3 * 1024 * 1024, log });
});
afterAll(async () => {
  await desk.close();
  // Whatever a caller sends, nothing unexpected happens behind the answer either.
  expect(faults).toEqual([]);
});

const MAIL = { from: "ann@linked.com", to: "ben@example.net", subject: "Hello", html: "<p>Hello</p>" };
const json = JSON.stringify(MAIL);

describe("nothing that a caller sends is ever a 5xx", () => {
  const limitMs = 20_000;
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom(
      null,
      "",
      [],
      {},
      "ann@linked.com",
      ["ben@example.net"],
      1e308,
      -0,
      "\ud800",
      "\u0000",
      "{{A}}",
    ),
  );
  const fields = [
    "from",
    "to",
    "subject",
    "html",
    "text",
    "cc",
    "bcc",
    "reply_to",
    "headers",
    "tags",
    "template",
    "attachments",
    "scheduled_at",
    "topic_id",
    "name",
    "alias",
    "variables",
    "limit",
  ];
  const bodies = fc.dictionary(fc.oneof(fc.constantFrom(...fields), fc.string({ maxLength: 10 })), anything, {
    maxKeys: 8,
  });

  test("in a body", async () => {
    await fc.assert(
      fc.asyncProperty(
        bodies,
        fc.boolean(),
        fc.constantFrom("/api/emails", "/api/templates"),
        async (change, isWhole, path) => {
          const body = isWhole ? { ...MAIL, name: "x", ...change } : change;
          const { status, text } = await desk.world.api("POST", path, { token: desk.token, body });
          expect(status, `${JSON.stringify(body)} ${text}`).toBeLessThan(500);
        },
      ),
      { numRuns: 600, interruptAfterTimeLimit: limitMs },
    );
  });

  test("in bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect((await desk.post(bytes)).status).toBeLessThan(500);
      }),
      { numRuns: 300, interruptAfterTimeLimit: limitMs },
    );
  });

  test("in a path or a query", async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "emails",
        "templates",
        "publish",
        "cron",
        "..",
        ".",
        "%2e",
        "%00",
        "%ff",
        "",
        ";",
        "x@y",
      ),
      fc.string({ maxLength: 12 }).map(encodeURIComponent),
      fc.string({ unit: fc.constantFrom(..."abc%~!$&'()*+,;=:@-._0129"), maxLength: 12 }),
    );
    const name = fc.constantFrom(
      "limit",
      "after",
      "before",
      "status",
      "recipient",
      "subject",
      "tag",
      "key",
      "since",
      "until",
      "x",
    );
    const value = fc.oneof(
      piece,
      fc.constantFrom("2026-02-30T00:00:00Z", "9".repeat(30), "%F0%9F", "%", "'--", "%5C"),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("GET", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"),
        fc.array(piece, { maxLength: 4 }),
        fc.array(fc.tuple(name, value), { maxLength: 3 }),
        async (method, pieces, query) => {
          const search = query.map(([key, given]) => `${key}=${given}`).join("&");
          const path = `/api/${pieces.join("/")}?${search}`;
          const { status, text } = await desk.world.api(method, path, { token: desk.token });
          expect(status, `${method} ${path} ${text}`).toBeLessThan(500);
        },
      ),
      { numRuns: 600, interruptAfterTimeLimit: limitMs },
    );
  });

  test("in a header", async () => {
    const names = fc.constantFrom(
      "authorization",
      "idempotency-key",
      "content-type",
      "x-request-id",
      "accept",
      "x-forwarded-for",
      "content-encoding",
      "origin",
      "cookie",
      "range",
      "if-match",
    );
    const printable = fc.string({
      unit: fc
        .integer({ min: 0x20, max: 0xff })
        .filter((code) => code !== 0x7f)
        .map((code) => String.fromCharCode(code)),
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(names, printable, async (name, value) => {
        const { status } = await desk.post(json, { [name]: value });
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 300, interruptAfterTimeLimit: limitMs },
    );
  });
});
