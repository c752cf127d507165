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

describe("no field carries a header or another sender into a mail", () => {
  const INJECTIONS = [
    "a\r\nBcc: x@evil.com",
    "a\nBcc: x@evil.com",
    "a\rBcc: x@evil.com",
    "a\u0000b",
    "a\u0001b",
    "a\u007fb",
    "a\u0085b",
    "a\r\n\r\nbody",
    "\ta",
  ];
  const FIELDS: [string, (text: string) => object][] = [
    ["subject", (text) => ({ subject: text })],
    ["from's name", (text) => ({ from: `${text} <ann@linked.com>` })],
    ["from's quoted name", (text) => ({ from: `"${text}" <ann@linked.com>` })],
    ["from's address", (text) => ({ from: `ann@linked.com${text}` })],
    ["to", (text) => ({ to: `ben@example.net${text}` })],
    ["to's name", (text) => ({ to: [`${text} <ben@example.net>`] })],
    ["cc", (text) => ({ cc: `${text}@example.net` })],
    ["bcc", (text) => ({ bcc: [`"${text}" <ben@example.net>`] })],
    ["reply_to", (text) => ({ reply_to: `${text} <a@example.net>` })],
    ["a header's value", (text) => ({ headers: { "X-A": text } })],
    ["a header's name", (text) => ({ headers: { [`X-${text}`]: "x" } })],
    ["a tag's name", (text) => ({ tags: [{ name: text, value: "x" }] })],
    ["a tag's value", (text) => ({ tags: [{ name: "x", value: text }] })],
  ];
  test.each(FIELDS)("control characters in %s are 422, never cleaned silently", async (_, change) => {
    for (const text of INJECTIONS) {
      const { status } = await desk.send(change(text));
      expect({ text, status }).toEqual({ text, status: 422 });
    }
  });

  test("headers that Posthorn writes cannot be set, in whatever letters", async () => {
    const names = [
      "From",
      "FROM",
      "frOm",
      "from",
      "Sender",
      "To",
      "Cc",
      "Bcc",
      "Reply-To",
      "Date",
      "Message-ID",
      "MIME-Version",
      "Content-Type",
      "content-transfer-encoding",
      "DKIM-Signature",
      "ARC-Seal",
      "Authentication-Results",
      "Received",
      "Return-Path",
      "Resent-To",
      "Delivered-To",
      "Auto-Submitted",
      "X-Posthorn-Id",
      "Subject",
      "From ",
      "From\t",
      " From",
      "From:",
      "Fr\u043em",
      "\u0131nt",
      "",
      "X A",
      "X:A",
      "x".repeat(77),
      "X-\u00e9",
    ];
    for (const name of names) {
      const { status, body } = await desk.send({ headers: { [name]: "x@evil.com" } });
      expect({ name, status }).toEqual({ name, status: 422 });
      expect(body.message).toMatch(/`headers`/);
    }
  });

  test("a header's value is one line that fits into 998 octets with its name", async () => {
    expect((await desk.send({ headers: { "X-A": "x".repeat(993) } })).status).toBe(200);
    expect((await desk.send({ headers: { "X-A": "x".repeat(994) } })).status).toBe(422);
    expect((await desk.send({ headers: { "X-A": { prepared: true, value: "v\r\nBcc: x@e" } } })).status).toBe(
      422,
    );
  });

  test("a sender that parsers read differently is refused, or read as the strict grammar has it", async () => {
    const senders: [string, number][] = [
      ["a@evil.com <b@linked.com>", 200],
      ["<a@evil.com> <b@linked.com>", 422],
      ["a@linked.com@evil.com", 422],
      ["a@linked.com\u0000@evil.com", 422],
      ["a(@linked.com)@evil.com", 422],
      ["a@(linked.com)evil.com", 422],
      ["'a@evil.com' b@linked.com", 422],
      ["a@linked.com, x@evil.com", 422],
      ["a@linked.com; x@evil.com", 422],
      ["@evil.com:b@linked.com", 422],
      ['"a@linked.com"@evil.com', 422],
      ["group: a@linked.com;", 422],
      ["a@[127.0.0.1]", 422],
      ["a@linked.com.", 422],
      ["a@.linked.com", 422],
      ["a@localhost", 422],
      ["a@linked.com>", 422],
      ["<a@linked.com", 422],
      ["Ann <a@linked.com> trailing", 422],
      ["a b@linked.com", 422],
      [".a@linked.com", 422],
      ["a..b@linked.com", 422],
      [`${"a".repeat(65)}@linked.com`, 422],
      ["a@evillinked.com", 403],
      ["a@linked.com.evil.com", 403],
      ["a@sub.linked.com", 403],
      ["a@com", 422],
      ["a@l\u0456nked.com", 403],
      ["a@LINKED.com", 200],
      ["a@linked\u3002com", 200],
      ["a@\uff4cinked.com", 200],
      ["a@lin\u00adked.com", 200],
    ];
    for (const [from, expected] of senders) {
      const { status, body } = await desk.send({ from });
      expect({ from, status }).toEqual({ from, status: expected });
      if (status !== 200) continue;
      const shown = await desk.world.api("GET", `/api/emails?sender=${encodeURIComponent(from)}&limit=1`, {
        token: desk.token,
      });
      expect(shown.body.data).toMatchObject([
        { id: body.id, from: expect.stringMatching(/@linked\.com>?$/) },
      ]);
    }
  });

  test.each([
    ["(", 100_000],
    ['"', 100_000],
    ["<", 100_000],
    ["a:", 100_000],
    ["a,", 100_000],
    ["@", 100_000],
    [" ", 100_000],
  ])("an address of many %s costs no more than its reading", async (piece, times) => {
    expect((await desk.send({ from: piece.repeat(times) })).status).toBe(422);
    expect((await desk.send({ to: `${piece.repeat(times)}@example.net` })).status).toBe(422);
  });

  test("text that is odd and harmless is kept as it is", async () => {
    for (const subject of [
      "\uFFFE",
      `a${"\u0301".repeat(1_000)}`,
      "\u202Eabc",
      "\u2028",
      "عنوان",
      "😀".repeat(900),
    ]) {
      const { status, body } = await desk.send({ subject, html: subject, text: subject });
      expect(status).toBe(200);
      const shown = await desk.world.api("GET", `/api/emails/${body.id}`, { token: desk.token });
      expect(shown.body).toMatchObject({ subject, html: subject, text: subject });
    }
  });
});
