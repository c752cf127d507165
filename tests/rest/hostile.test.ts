import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Log } from "#server/log";
import { type CallOptions, callRaw } from "../support/rest";
import { createWorld, type World } from "../support/world";

let world: World;
let token: string;
const faults: unknown[] = [];
const log: Log = { info() {}, warn() {}, error: (event, facts) => faults.push({ event, facts }) };
beforeAll(async () => {
  world = await createWorld({ bodyMaxBytes: 3 * 1024 * 1024, log });
  await world.domain("linked.com");
  ({ token } = await world.key({ domains: ["linked.com"] }));
});
afterAll(async () => {
  await world.close();
  // Whatever a caller sends, nothing unexpected happens behind the answer either.
  expect(faults).toEqual([]);
});

const MAIL = { from: "ann@linked.com", to: "ben@example.net", subject: "Hello", html: "<p>Hello</p>" };
const post = (raw: string | Uint8Array, headers: CallOptions["headers"] = {}) =>
  world.api("POST", "/api/emails", { token, raw, headers });
const send = (change: object) => world.api("POST", "/api/emails", { token, body: { ...MAIL, ...change } });
const json = JSON.stringify(MAIL);
const withField = (field: string) => `${json.slice(0, -1)},${field}}`;

describe("every body has one answer", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const many = (count: number, item: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => item(n)).join(",");
  test.each<[what: string, body: string | Uint8Array, status: number, message: RegExp | null]>([
    ["nothing", "", 400, /body is missing/],
    ["blanks", "   ", 400, /not valid JSON/],
    ["half of an object", '{"from":', 400, /not valid JSON/],
    ["two objects", "{}{}", 400, /not valid JSON/],
    ["single quotes", "{'from':1}", 400, /not valid JSON at position 1/],
    ["a comma too many", '{"a":1,}', 400, /not valid JSON/],
    ["a comment", "{}//x", 400, /not valid JSON/],
    ["NaN", '{"a":NaN}', 400, /not valid JSON/],
    ["a line break in a string", '{"a":"\n"}', 400, /not valid JSON/],
    ["a form", "from=a&to=b", 400, /not valid JSON/],
    ["null", "null", 400, /must be a JSON object/],
    ["a number", "1", 400, /must be a JSON object/],
    ["a string", '"x"', 400, /must be a JSON object/],
    ["an array", "[]", 400, /must be a JSON object/],
    ["an array of mails", `[${json}]`, 400, /must be a JSON object/],
    ["a byte order mark before it", `\ufeff${json}`, 200, null],
    ["two byte order marks", `\ufeff\ufeff${json}`, 400, /not valid JSON/],
    ["blanks around it", ` \r\n\t${json}\n `, 200, null],
    ["UTF-16", Buffer.from(json, "utf16le"), 400, /not valid/],
    ["the bytes ff fe", Buffer.from([0xff, 0xfe]), 400, /UTF-8/],
    ["an overlong slash", Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 400, /UTF-8/],
    ["a surrogate as CESU-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 400, /UTF-8/],
    ["half of a character", Buffer.from([0x22, 0xe2, 0x82, 0x22]), 400, /UTF-8/],
    ["a name that stands twice: the last one counts", withField('"subject":1'), 422, /`subject`/],
    ["a name that stands twice, the last one good", `{"subject":1,${json.slice(1)}`, 200, null],
    ["__proto__", withField('"__proto__":{"x":1}'), 422, /Unknown field `__proto__`/],
    ["__proto__ further down", withField('"headers":{"__proto__":"x"}'), 422, /`headers\.__proto__`/],
    ["__proto__ in an escape", withField('"\\u005f_proto__":1'), 422, /Unknown field `__proto__`/],
    ["constructor", withField('"constructor":{"prototype":1}'), 422, /Unknown field `constructor`/],
    ["a number out of range", withField('"tags":1e999'), 422, /`tags` is a number out of range/],
    ["a number out of range in a list", withField('"to":[1e999]'), 422, /`to`/],
    ["a number beyond exactness", withField('"subject":12345678901234567890'), 422, /`subject`/],
    ["NUL in a value", withField('"subject":"a\\u0000b"'), 422, /`subject` contains a NUL/],
    ["NUL in a name", withField('"a\\u0000b":1'), 422, /A field's name contains a NUL/],
    [
      "NUL in a name further down",
      withField('"headers":{"a\\u0000b":"x"}'),
      422,
      /name in `headers` contains a NUL/,
    ],
    ["the first half of a surrogate pair", withField('"subject":"\\ud800"'), 422, /`subject` contains half/],
    ["the second half", withField('"html":"\\udfff"'), 422, /`html` contains half/],
    ["both halves in order", withField('"subject":"\\ud83d\\ude00"'), 200, null],
    [
      "both halves in the wrong order",
      withField('"subject":"\\ude00\\ud83d"'),
      422,
      /`subject` contains half/,
    ],
    ["32 levels", nested(31), 422, /Unknown field `a`/],
    ["33 levels", nested(32), 422, /deeper than 32 levels/],
    ["a hundred thousand levels", nested(100_000), 422, /deeper than 32 levels/],
    ["a hundred thousand opening brackets", "[".repeat(100_000), 400, /not valid JSON/],
    ["a million opening brackets", "[".repeat(1_000_000), 422, /more than 50000/],
    ["a thousand fields", `{${many(1_000, (n) => `"k${n}":1`)}}`, 422, /Unknown fields/],
    ["a thousand and one", `{${many(1_001, (n) => `"k${n}":1`)}}`, 422, /more than 1000 fields/],
    ["a hundred thousand fields", `{${many(100_000, (n) => `"k${n}":1`)}}`, 422, /more than 1000 fields/],
    [
      "a hundred thousand empty objects",
      `{"a":[${many(100_000, () => "{}")}]}`,
      422,
      /`a` has more than 1000 items/,
    ],
    ["objects without number", `{"a":[${many(200_000, () => "{}")}]}`, 422, /more than 50000/],
    [
      "a thousand and one recipients",
      withField(`"to":[${many(1_001, () => '"a@b.net"')}]`),
      422,
      /`to` has more than 1000/,
    ],
    ["bytes in a list", withField(`"html":[${many(100_000, () => "65")}]`), 422, /`html`.*string/],
    ["quotes and backslashes", withField(`"text":"${'\\\\\\"'.repeat(200_000)}"`), 200, null],
    ["backslashes before its end", `{"a":"${"\\".repeat(200_001)}"`, 400, /not valid JSON/],
  ])("%s", async (_, body, status, message) => {
    const before = await world.rowCounts();
    const reply = await post(body);
    expect({ status: reply.status, text: reply.text.slice(0, 300) }).toMatchObject({ status });
    if (message === null) return;
    expect(reply.body.message).toMatch(message);
    expect(reply.body.error).toBe(reply.body.message);
    expect(await world.rowCounts()).toEqual(before);
  });

  test("and none of them changes what all objects inherit", () => {
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("size and type", () => {
  const large = JSON.stringify({ ...MAIL, html: "x".repeat(3 * 1024 * 1024) });
  test("a body beyond the limit is 413, by its declared length or as it comes", async () => {
    const declared = await post(large);
    const counted = await post(large, { "transfer-encoding": "chunked", "content-length": [] });
    expect([declared.status, counted.status]).toEqual([413, 413]);
    expect(declared.body.message).toMatch(/larger than 3 MB/);
    expect(counted.body).toMatchObject({ statusCode: 413, name: "validation_error" });
  });

  test("a body below it is taken chunked as well", async () => {
    const { status } = await post(json, { "transfer-encoding": "chunked", "content-length": [] });
    expect(status).toBe(200);
  });

  test("a compressed body is 415, and never unpacked", async () => {
    for (const encoding of ["gzip", "GZIP", "br", "deflate", "gzip, identity"]) {
      const { status, body } = await post(gzipSync(large), { "content-encoding": encoding });
      expect({ encoding, status }).toEqual({ encoding, status: 415 });
      expect(body.message).toMatch(/Content-Encoding/);
    }
    expect((await post(json, { "content-encoding": "identity" })).status).toBe(200);
  });

  test.each([
    ["application/json", 200],
    ["application/json; charset=utf-8", 200],
    ["Application/JSON;charset=UTF-8", 200],
    ["application/json ; boundary=x", 200],
    ["text/plain", 415],
    ["text/json", 415],
    ["application/x-www-form-urlencoded", 415],
    ["multipart/form-data; boundary=x", 415],
    ["application/jsonp", 415],
    ["application/json, text/plain", 415],
    ["application/vnd.api+json", 415],
    ["", 415],
  ])("a body of type %s is answered %i", async (type, expected) => {
    const { status, body } = await post(json, { "content-type": type });
    expect(status).toBe(expected);
    if (expected === 415) expect(body.message).toMatch(/Content-Type: application\/json/);
  });

  test("a body shorter than its declared length is never accepted", async () => {
    const before = await world.rowCounts();
    const head = `POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const answer = await callRaw(world.baseUrl, `${head}Content-Length: ${json.length + 10}\r\n\r\n${json}`);
    expect(answer).not.toMatch(/^HTTP\/1\.1 [25]/);
    expect(await world.rowCounts()).toEqual(before);
  });

  test("of a body longer than its declared length only the declared part is read", async () => {
    const head = `POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const answer = await callRaw(world.baseUrl, `${head}Content-Length: ${json.length - 1}\r\n\r\n${json}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
  });

  test("a length beside chunks is refused before anybody reads either", async () => {
    const answer = await callRaw(
      world.baseUrl,
      `POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
        `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
  });
});

describe("every path and method has one answer", () => {
  test.each([
    ["GET", "/api/emails/", 404],
    ["GET", "/api//emails", 404],
    ["GET", "//api/emails", 404],
    ["GET", "/api/emails//", 404],
    ["GET", "/api/..;/emails", 404],
    ["GET", "/api/.;/emails", 404],
    ["GET", "/api/%65mails", 404],
    ["GET", "/api/%2565mails", 404],
    ["GET", "/api%2femails", 404],
    ["GET", "/api/emails%2f", 404],
    ["GET", "/api/emails%00", 404],
    ["GET", "/api/emails%zz", 404],
    ["GET", "/api/templates/%zz", 404],
    ["GET", "/api/templates/%ff", 404],
    ["GET", "/api/templates/a%00b", 404],
    ["GET", "/api/templates/%2e%2e", 404],
    ["GET", "/api/Emails", 404],
    ["GET", "/API/emails", 404],
    ["GET", "/api/emails.json", 404],
    ["GET", "/api", 404],
    ["GET", "/api/", 404],
    ["GET", "/api/emails/../templates", 200],
    ["GET", "/api/emails/%2e%2e/templates", 200],
    ["GET", "/api/../secret", 404],
    ["GET", "/api/emails/a/b", 404],
    ["PUT", "/api/emails", 405],
    ["PATCH", "/api/emails", 405],
    ["DELETE", "/api/emails", 405],
    ["OPTIONS", "/api/emails", 405],
    ["TRACE", "/api/emails", 405],
    ["PROPFIND", "/api/emails", 405],
    ["POST", "/api/emails/018f0000-0000-7000-8000-000000000000", 405],
    ["GET", "/api/templates/x/publish", 405],
    ["POST", "/api/health", 405],
    ["GET", "/api/cron/tick", 404],
    ["POST", "/api/cron/tick", 404],
    ["PUT", "/api/cron/tick", 404],
    ["HEAD", "/api/emails", 200],
    ["HEAD", "/api/nothing", 404],
  ])("%s %s is %i, in JSON and with the limit headers", async (method, path, status) => {
    const reply = await world.api(method, path, { token });
    expect({ status: reply.status, text: reply.text.slice(0, 300) }).toMatchObject({ status });
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(reply.headers["x-ratelimit-limit"]).toMatch(/^\d+$/);
    if (method !== "HEAD" && status >= 400) expect(reply.body.error).toEqual(expect.any(String));
    if (method === "HEAD") expect(reply.text).toBe("");
    if (status === 405) expect(reply.headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
    const anonymous = await world.api(method, path);
    expect(anonymous.status).toBe(401);
  });

  test("the methods of a path are told, HEAD among them", async () => {
    const { headers, body } = await world.api("DELETE", "/api/emails", { token });
    expect(headers.allow).toBe("POST, GET, HEAD");
    expect(body.message).toBe("DELETE is not possible here. Use POST or GET or HEAD.");
  });

  test("a path that is nearly right is told how to write it", async () => {
    for (const path of ["/api/emails/", "/api//emails"])
      expect((await world.api("GET", path, { token })).body.message).toBe(
        `There is no ${path}. Write /api/emails.`,
      );
  });

  test("no header makes one method into another", async () => {
    for (const name of ["x-http-method-override", "x-method-override", "x-http-method"])
      expect(
        (await world.api("GET", "/api/emails", { token, headers: { [name]: "POST" } })).body.object,
      ).toBe("list");
  });

  test("a body with a GET is not read, and an empty object is none anywhere", async () => {
    const options = { token, raw: "{}", headers: { "content-type": "application/json" } };
    expect((await world.api("GET", "/api/emails", options)).status).toBe(200);
    const made = await world.api("POST", "/api/templates", { token, body: { name: "x", html: "x" } });
    const path = `/api/templates/${made.body.id}`;
    expect((await world.api("POST", `${path}/publish`, options)).status).toBe(200);
    expect(
      (await world.api("POST", `${path}/publish`, { token, headers: { "content-type": "application/json" } }))
        .status,
    ).toBe(200);
    expect((await world.api("DELETE", path, { token, body: { id: 1 } })).body.message).toMatch(
      /takes no body/,
    );
    expect((await world.api("DELETE", path, options)).status).toBe(200);
  });

  test("an odd Authorization header is 401 like none", async () => {
    for (const authorization of [
      token,
      `Basic ${token}`,
      "Bearer",
      "Bearer ",
      `Bearer ${token} x`,
      `Bearer "${token}"`,
      `Bearer ${token},`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token}x`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${"x".repeat(8_000)}`,
      `Bearer\t${token}`,
    ]) {
      const reply = await world.api("GET", "/api/emails", { headers: { authorization } });
      expect(reply.status).toBe(401);
      expect(reply.text).toBe('{"error":"Unauthorized"}');
    }
    const twice = await world.api("GET", "/api/emails", {
      headers: { authorization: [`Bearer ${token}`, "Bearer x"] },
    });
    expect(twice.status).toBe(401);
    const loose = await world.api("GET", "/api/emails", { headers: { authorization: `bearer  ${token}` } });
    expect(loose.status).toBe(200);
  });

  test("an odd request id is replaced and never echoed", async () => {
    const kept = await world.api("GET", "/api/emails", {
      token,
      headers: { "x-request-id": "my-request-1" },
    });
    expect(kept.headers["x-request-id"]).toBe("my-request-1");
    for (const id of ["short", "x".repeat(65), "<script>alert(1)</script>", "a b c d e f g h"]) {
      const { headers } = await world.api("GET", "/api/emails", { token, headers: { "x-request-id": id } });
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
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
      const { status } = await send(change(text));
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
      const { status, body } = await send({ headers: { [name]: "x@evil.com" } });
      expect({ name, status }).toEqual({ name, status: 422 });
      expect(body.message).toMatch(/`headers`/);
    }
  });

  test("a header's value is one line that fits into 998 octets with its name", async () => {
    expect((await send({ headers: { "X-A": "x".repeat(993) } })).status).toBe(200);
    expect((await send({ headers: { "X-A": "x".repeat(994) } })).status).toBe(422);
    expect((await send({ headers: { "X-A": { prepared: true, value: "v\r\nBcc: x@e" } } })).status).toBe(422);
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
      const { status, body } = await send({ from });
      expect({ from, status }).toEqual({ from, status: expected });
      if (status !== 200) continue;
      const shown = await world.api("GET", `/api/emails?sender=${encodeURIComponent(from)}&limit=1`, {
        token,
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
    expect((await send({ from: piece.repeat(times) })).status).toBe(422);
    expect((await send({ to: `${piece.repeat(times)}@example.net` })).status).toBe(422);
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
      const { status, body } = await send({ subject, html: subject, text: subject });
      expect(status).toBe(200);
      const shown = await world.api("GET", `/api/emails/${body.id}`, { token });
      expect(shown.body).toMatchObject({ subject, html: subject, text: subject });
    }
  });
});

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
          const { status, text } = await world.api("POST", path, { token, body });
          expect(status, `${JSON.stringify(body)} ${text}`).toBeLessThan(500);
        },
      ),
      { numRuns: 600, interruptAfterTimeLimit: limitMs },
    );
  });

  test("in bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect((await post(bytes)).status).toBeLessThan(500);
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
          const { status, text } = await world.api(method, path, { token });
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
        const { status } = await post(json, { [name]: value });
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 300, interruptAfterTimeLimit: limitMs },
    );
  });
});
