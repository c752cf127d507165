import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { READ_JSON } from "#server/rest/body/json";
import { rejected } from "../support/rejected";
import { callRaw } from "../support/rest";
import { openHostileApp } from "./hostile-app";

const app = await openHostileApp();

const EMAIL = { from: "ann@linked.com", to: "ben@example.net", subject: "Hello", html: "<p>Hello</p>" };
const json = JSON.stringify(EMAIL);
const withField = (field: string) => `${json.slice(0, -1)},${field}}`;

describe("every body has one response", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const many = (count: number, item: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => item(n)).join(",");
  test.each<[what: string, body: string | Uint8Array, status: number, message: RegExp | null]>([
    ["nothing", "", 400, /body is missing/],
    ["blanks", "   ", 400, /not valid JSON/],
    ["single quotes", "{'from':1}", 400, /not valid JSON at position 1/],
    ["NaN", '{"a":NaN}', 400, /not valid JSON/],
    ["a line break in a string", '{"a":"\n"}', 400, /not valid JSON/],
    ["a form", "from=a&to=b", 400, /not valid JSON/],
    ["null", "null", 400, /must be a JSON object/],
    ["a number", "1", 400, /must be a JSON object/],
    ["an array", "[]", 400, /must be a JSON object/],
    ["an array of emails", `[${json}]`, 400, /must be a JSON object/],
    ["a byte order mark before the JSON", `\ufeff${json}`, 200, null],
    ["two byte order marks", `\ufeff\ufeff${json}`, 400, /not valid JSON/],
    ["whitespace around the JSON", ` \r\n\t${json}\n `, 200, null],
    ["UTF-16", Buffer.from(json, "utf16le"), 400, /not valid/],
    ["the bytes ff fe", Buffer.from([0xff, 0xfe]), 400, /UTF-8/],
    ["an overlong slash", Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 400, /UTF-8/],
    ["a surrogate as CESU-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 400, /UTF-8/],
    ["half of a character", Buffer.from([0x22, 0xe2, 0x82, 0x22]), 400, /UTF-8/],
    ["a duplicate name: the last one counts", withField('"subject":1'), 422, /`subject`/],
    ["a duplicate name, the last one valid", `{"subject":1,${json.slice(1)}`, 200, null],
    ["nested __proto__", withField('"headers":{"__proto__":"x"}'), 422, /`headers\.__proto__`/],
    ["escaped __proto__", withField('"\\u005f_proto__":1'), 422, /Unknown field `__proto__`/],
    ["constructor", withField('"constructor":{"prototype":1}'), 422, /Unknown field `constructor`/],
    ["a number out of range", withField('"tags":1e999'), 422, /`tags` is out of range/],
    ["a number out of range in an array", withField('"to":[1e999]'), 422, /`to\[0\]` is out of range/],
    ["a number beyond integer precision", withField('"subject":12345678901234567890'), 422, /`subject`/],
    ["NUL in a value", withField('"subject":"a\\u0000b"'), 422, /`subject` contains a NUL/],
    ["NUL in a name", withField('"a\\u0000b":1'), 422, /A field's name contains a NUL/],
    [
      "NUL in a nested name",
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
    [
      "a thousand and one recipients",
      withField(`"to":[${many(1_001, () => '"a@b.net"')}]`),
      422,
      /`to` has more than 1000/,
    ],
    [
      "bytes in a field without a file",
      withField(`"html":[${many(1_001, () => "65")}]`),
      422,
      /`html` has more than 1000/,
    ],
    [
      "a file as an array of bytes",
      withField(`"attachments":[{"content":[${many(100_000, () => "200")}]}]`),
      200,
      null,
    ],
    [
      "the same with a value that is not a byte",
      withField(`"attachments":[{"content":[${many(2_000, () => "200")},256]}]`),
      422,
      /byte values from 0 to 255/,
    ],
    ["a file in base64", withField(`"attachments":[{"content":"${"QUJD".repeat(200_000)}"}]`), 200, null],
    ["quotes and backslashes", withField(`"text":"${'\\\\\\"'.repeat(20_000)}"`), 200, null],
    ["backslashes before the end", `{"a":"${"\\".repeat(20_001)}"`, 400, /not valid JSON/],
  ])("%s", async (_, body, status, message) => {
    const before = await app.world.rowCounts();
    const reply = await app.post(body);
    expect({ status: reply.status, text: reply.text.slice(0, 300) }).toMatchObject({ status });
    if (message === null) return;
    expect(reply.body.message).toMatch(message);
    expect(reply.body.error).toBe(reply.body.message);
    expect(await app.world.rowCounts()).toEqual(before);
  });

  test("and none of them changes the prototype of objects", () => {
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("size and type", () => {
  const large = JSON.stringify({ ...EMAIL, html: "x".repeat(3 * 1024 * 1024) });
  test("a body above the limit is 413, by its declared length or while it is read", async () => {
    const declared = await app.post(large);
    const counted = await app.post(large, { "transfer-encoding": "chunked", "content-length": [] });
    expect([declared.status, counted.status]).toEqual([413, 413]);
    expect(declared.body.message).toMatch(/larger than 3 MB/);
    // The message recommends a smaller form.
    expect(declared.body.message).toMatch(/array of bytes takes 3\.6 times the size of the file/);
    expect(declared.body.message).toMatch(/`content` as Base64, or `path`/);
    expect(counted.body.message).toBe(declared.body.message);
    expect(counted.body).toMatchObject({ statusCode: 413, name: "validation_error" });
  });

  test("a chunked body below the limit is accepted", async () => {
    const { status } = await app.post(json, { "transfer-encoding": "chunked", "content-length": [] });
    expect(status).toBe(200);
  });

  test("a compressed body is 415 and is never decompressed", async () => {
    for (const encoding of ["GZIP", "br", "gzip, identity"]) {
      const { status, body } = await app.post(gzipSync(large), { "content-encoding": encoding });
      expect({ encoding, status }).toEqual({ encoding, status: 415 });
      expect(body.message).toMatch(/Content-Encoding/);
    }
    expect((await app.post(json, { "content-encoding": "identity" })).status).toBe(200);
  });

  test.each([
    ["application/json", 200],
    ["application/json; charset=utf-8", 200],
    ["Application/JSON;charset=UTF-8", 200],
    ["text/plain", 415],
    ["text/json", 415],
    ["application/jsonp", 415],
    ["application/json, text/plain", 415],
    ["", 415],
  ])("a body of type %s gets %i", async (type, expected) => {
    const { status, body } = await app.post(json, { "content-type": type });
    expect(status).toBe(expected);
    if (expected === 415) expect(body.message).toMatch(/Content-Type: application\/json/);
  });

  test("a body shorter than its declared length is never accepted", async () => {
    const before = await app.world.rowCounts();
    const head = `POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token}\r\nContent-Type: application/json\r\n`;
    const answer = await callRaw(
      app.world.baseUrl,
      `${head}Content-Length: ${json.length + 10}\r\n\r\n${json}`,
    );
    expect(answer).not.toMatch(/^HTTP\/1\.1 [25]/);
    expect(await app.world.rowCounts()).toEqual(before);
  });

  test("of a body longer than its declared length only the declared part is read", async () => {
    const head = `POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token}\r\nContent-Type: application/json\r\n`;
    const answer = await callRaw(
      app.world.baseUrl,
      `${head}Content-Length: ${json.length - 1}\r\n\r\n${json}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
  });

  test("Content-Length with Transfer-Encoding is rejected before the body is read", async () => {
    const answer = await callRaw(
      app.world.baseUrl,
      `POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token}\r\nContent-Type: application/json\r\n` +
        `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
  });
});

test("a long body is read beside the thread that serves others, and so are its faults", async () => {
  const readHere = vi.spyOn(READ_JSON, "read");
  const content = Buffer.from("a file ".repeat(10_000));
  const file = { filename: "a.txt", content: content.toString("base64") };
  const accepted = await app.post(JSON.stringify({ ...EMAIL, attachments: [file] }));
  expect(accepted.status).toBe(200);
  const [stored] = await app.world
    .hot`select content from attachments where email_id = ${String(accepted.body.id)}`;
  expect(content.equals(stored?.content)).toBe(true);
  expect(await app.post(`{"a":"${"a".repeat(50_000)}`)).toMatchObject(
    rejected(400, /not valid JSON at position 5000\d/),
  );
  // A request of an earlier test, whose connection has ended, may still be read.
  const longest = () => Math.max(0, ...readHere.mock.calls.map(([{ bytes }]) => bytes.length));
  expect(longest()).toBeLessThan(1_000);
  await app.post(json);
  expect(longest()).toBeGreaterThanOrEqual(json.length);
  readHere.mockRestore();
});

test("a body that could not be read in time may be sent again", async () => {
  // Takes far longer than the millisecond that it gets.
  const bytes = Buffer.from(`[${"{},".repeat(1_000_000)}{}]`);
  const reading = app.world.deps.threads.read("team", READ_JSON, { bytes, isFingerprinted: false }, 1);
  await expect(reading).rejects.toMatchObject({ code: "unavailable", status: 503 });
});
