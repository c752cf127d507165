import { describe, expect, test } from "vitest";
import { openHostileApp } from "./hostile-app";

const app = await openHostileApp();

describe("no field can inject a header or another sender into an email", () => {
  const INJECTIONS = [
    "a\r\nBcc: x@evil.com",
    "a\nBcc: x@evil.com",
    "a\rBcc: x@evil.com",
    "a\u0000b",
    "a\u007fb",
    "a\u0085b",
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
      const { status } = await app.send(change(text));
      expect({ text, status }).toEqual({ text, status: 422 });
    }
  });

  test("headers that Backstamp writes cannot be set, in any letter case", async () => {
    const names = [
      "frOm",
      "Sender",
      "Bcc",
      "Message-ID",
      "content-transfer-encoding",
      "DKIM-Signature",
      "Received",
      "Return-Path",
      "Resent-To",
      "X-Backstamp-Id",
      "From ",
      "From:",
      "Fr\u043em",
      "",
      "X:A",
      "x".repeat(77),
    ];
    for (const name of names) {
      const { status, body } = await app.send({ headers: { [name]: "x@evil.com" } });
      expect({ name, status }).toEqual({ name, status: 422 });
      expect(body.message).toMatch(/`headers`/);
    }
  });

  test("a header with its name is one line of at most 998 octets", async () => {
    expect((await app.send({ headers: { "X-A": "x".repeat(993) } })).status).toBe(200);
    expect((await app.send({ headers: { "X-A": "x".repeat(994) } })).status).toBe(422);
    expect((await app.send({ headers: { "X-A": { prepared: true, value: "v\r\nBcc: x@e" } } })).status).toBe(
      422,
    );
  });

  test("a sender that parsers interpret differently is rejected, or parsed by the strict grammar", async () => {
    const senders: [string, number][] = [
      ["a@evil.com <b@linked.com>", 200],
      ["<a@evil.com> <b@linked.com>", 422],
      ["a@linked.com@evil.com", 422],
      ["a@linked.com\u0000@evil.com", 422],
      ["a@(linked.com)evil.com", 422],
      ["a@linked.com, x@evil.com", 422],
      ['"a@linked.com"@evil.com', 422],
      ["group: a@linked.com;", 422],
      ["a@[127.0.0.1]", 422],
      ["a@linked.com.", 422],
      ["a@localhost", 422],
      ["a@linked.com>", 422],
      ["Ann <a@linked.com> trailing", 422],
      ["a..b@linked.com", 422],
      [`${"a".repeat(65)}@linked.com`, 422],
      ["a@evillinked.com", 403],
      ["a@linked.com.evil.com", 403],
      ["a@sub.linked.com", 403],
      ["a@l\u0456nked.com", 403],
      ["a@LINKED.com", 200],
      ["a@\uff4cinked.com", 200],
      ["a@lin\u00adked.com", 200],
    ];
    for (const [from, expected] of senders) {
      const { status, body } = await app.send({ from });
      expect({ from, status }).toEqual({ from, status: expected });
      if (status !== 200) continue;
      const stored = await app.world.api("GET", `/api/emails?sender=${encodeURIComponent(from)}&limit=1`, {
        token: app.token,
      });
      expect(stored.body.data).toMatchObject([
        { id: body.id, from: expect.stringMatching(/@linked\.com>?$/) },
      ]);
    }
  });

  test("unusual but harmless text is stored unchanged", async () => {
    for (const subject of [
      "\uFFFE",
      `a${"\u0301".repeat(1_000)}`,
      "\u202Eabc",
      "\u2028",
      "عنوان",
      "😀".repeat(900),
    ]) {
      const { status, body } = await app.send({ subject, html: subject, text: subject });
      expect(status).toBe(200);
      const stored = await app.world.api("GET", `/api/emails/${body.id}`, { token: app.token });
      expect(stored.body).toMatchObject({ subject, html: subject, text: subject });
    }
  });
});
