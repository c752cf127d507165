import { expect, test, vi } from "vitest";
import { parseContent } from "#server/mail/mime/raw/content";
import { parseHeader } from "#server/mail/mime/raw/fields";
import { partsMax } from "#server/mail/mime/raw/parts";
import { parseFrom } from "#server/mail/mime/raw/sender";

const message = (lines: string[], encoding: BufferEncoding = "latin1") =>
  Buffer.from(lines.join("\r\n"), encoding);

test("text, HTML and files are read with their character sets, encodings and names", () => {
  const content = parseContent(
    message([
      'Content-Type: multipart/mixed; boundary="out"',
      "",
      "preamble",
      "--out",
      "Content-Type: multipart/alternative; boundary=in",
      "",
      "--in",
      "Content-Type: text/plain; charset=iso-8859-1",
      "Content-Transfer-Encoding: quoted-printable",
      "",
      "caf=E9 =",
      "au lait",
      "--in",
      "Content-Type: text/html; charset=utf-8",
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from("<p>é</p>").toString("base64"),
      "--in--",
      "--out",
      "Content-Type: application/pdf; name=old.pdf",
      "Content-Disposition: attachment; filename*0*=UTF-8''%C3%A9t; filename*1*=%C3%A9.pdf",
      "Content-Transfer-Encoding: base64",
      "",
      "AAEC/w==",
      "--out",
      'Content-Type: image/png; name="=?utf-8?q?b=C3=A4r.png?="',
      "Content-ID: <logo@x>",
      "",
      "\x89PNG",
      "--outer is no boundary",
      "--out",
      "Content-Type: message/rfc822",
      "",
      "Subject: inner",
      "Content-Type: text/html",
      "",
      "<p>not ours</p>",
      "--out--",
      "epilogue",
      "",
    ]),
  );
  expect(content.text).toBe("café au lait");
  expect(content.html).toBe("<p>é</p>");
  expect(
    content.files.map(({ content: bytes, ...file }) => ({ ...file, bytes: bytes.toString("latin1") })),
  ).toEqual([
    { filename: "été.pdf", contentType: "application/pdf", contentId: null, bytes: "\0\x01\x02\xff" },
    {
      filename: "bär.png",
      contentType: "image/png",
      contentId: "logo@x",
      bytes: "\x89PNG\r\n--outer is no boundary",
    },
    {
      filename: null,
      contentType: "message/rfc822",
      contentId: null,
      bytes: "Subject: inner\r\nContent-Type: text/html\r\n\r\n<p>not ours</p>",
    },
  ]);
});

test("a message without MIME fields is plain text, and an HTML file is not the body", () => {
  expect(parseContent(message(["From: a@example.org", "", "Hello", ""]))).toEqual({
    html: null,
    text: "Hello\n",
    files: [],
  });
  const { html, files } = parseContent(
    message(["Content-Type: text/html", "Content-Disposition: attachment; filename=a.html", "", "<p>x</p>"]),
  );
  expect(html).toBeNull();
  expect(files[0]?.filename).toBe("a.html");
});

test.each([
  [Array.from({ length: partsMax + 1 }, () => ["--b", "", "x"]).flat(), /more than 500 parts/],
  [["--b", "", ...Array.from({ length: 10_001 }, () => "--bx")], /10000 lines that begin like its boundary/],
])("a message with too many parts, or lines that look like their boundary, is not read", (lines, reason) => {
  expect(() =>
    parseContent(message(["Content-Type: multipart/mixed; boundary=b", "", ...lines, "--b--"])),
  ).toThrow(reason);
});

test("quoted-printable: soft line breaks end a line after blanks, and invalid escapes stay", () => {
  const written = "=C3=A4=\r\n=3d= \t\r\nx= y=4=g1==41=";
  const { text } = parseContent(
    message(["Content-Type: text/plain", "Content-Transfer-Encoding: quoted-printable", "", written]),
  );
  expect(text?.trimEnd()).toBe("ä=x= y=4=g1=A=");
});

test.each([
  ["more than 256 KB", "a: 0123456789", 20_000, /header larger than 256 KB/],
  ["more than 1,000 fields", "a:", 1_001, /more than 1000 header fields/],
])("a message with a part whose header has %s is not read", (_name, line, count, reason) => {
  const header = Array.from({ length: count }, () => line);
  expect(() =>
    parseContent(message(["Content-Type: multipart/mixed; boundary=b", "", "--b", ...header, "--b--"])),
  ).toThrow(reason);
});

test("a boundary of hyphens inside lines takes linear time, and counts only at the start of a line", () => {
  const boundary = "-".repeat(40);
  const lines = Array.from({ length: 40_000 }, () => `x${"-".repeat(990)}`);
  const decode = vi.spyOn(Buffer.prototype, "toString");
  const content = parseContent(
    message([
      `Content-Type: multipart/mixed; boundary="${boundary}"`,
      "",
      `--${boundary}`,
      "Content-Type: text/plain",
      "",
      ...lines,
      `--${boundary}`,
      "Content-Type: text/html",
      "",
      "<p>Hello</p>",
      `--${boundary}--`,
    ]),
  );
  expect(decode.mock.calls.length).toBeLessThan(100);
  decode.mockRestore();
  expect(content.html).toBe("<p>Hello</p>");
});

const from = (...fields: string[]) => parseFrom(parseHeader(message([...fields, "", ""], "utf8")).fields);

test.each([
  ["From: ann@example.org", null],
  ["From: Ann Smith <ann@example.org>", "Ann Smith"],
  ['From: "Smith, Ann" <ann@example.org>', "Smith, Ann"],
  ["From: =?utf-8?B?w4Rubg==?= <ann@example.org>", "Änn"],
  ["FROM:\r\n Ann\r\n <ann@example.org>", "Ann"],
  ["From: ann@example.org (Cron Daemon)", "Cron Daemon"],
  ["From: =?utf-8?B?4oI=?=\r\n =?utf-8?B?rA==?= <ann@example.org>", "€"],
  ["From: =?utf-8?Q?=E2=82?= =?UTF-8?Q?=AC?= <ann@example.org>", "€"],
  ["From: =?windows-1252?Q?=93Ann=94?= <ann@example.org>", "“Ann”"],
  ["From: Acme (Support) <ann@example.org>", "Acme"],
  ["From: (nested (comment) \\) here) Acme <ann@example.org> (more)", "Acme"],
  ["From: Ann < ann@example.org >", "Ann"],
  ['From: "A long name"\r\n\t<ann@example.org>', "A long name"],
  ["From: Ann\tSmith\r\n\t<ann@example.org>", "Ann Smith"],
  [`From: ${"x".repeat(299)}😀y <ann@example.org>`, "x".repeat(299)],
  ["From: Änn <ann@example.org>", "Änn"],
])("%s names one sender", (field, name) => {
  expect(from(field)).toMatchObject({ ok: true, mailbox: { address: "ann@example.org", name } });
});

test.each([
  [[], /no From header/],
  [["From: ann@example.org", "from: eve@example.net"], /more than one From header/],
  [["From: ann@example.org, eve@example.net"], /The From header: /],
  [["From: ann@example.org <eve@example.net> x"], /The From header: /],
  [["From: Group: ann@example.org;"], /The From header: /],
  [["From: <ann@example.org> (x) <eve@example.net>"], /The From header: /],
  [["From: =?utf-8?q?ann=40example.org?="], /The From header: /],
  [['From: "Bank <pay@bank.example>" <ann@example.org>'], /inside a comment or a quoted name/],
  [['From: "Bank \\<pay@bank.example\\>" <ann@example.org>'], /inside a comment or a quoted name/],
  [["From: Bank (<pay@bank.example>) <ann@example.org>"], /inside a comment or a quoted name/],
  [["From: ann(x)@example.org"], /inside the address/],
  [["From: Ann (not closed <ann@example.org>"], /inside a comment/],
  [["From:"], /The From header: /],
])("From fields %j are rejected", (fields, reason) => {
  const read = from(...fields);
  expect(read.ok ? read.mailbox : read.fault).toMatch(reason);
});

test("texts and file names are shortened without halves of characters", () => {
  const name = `${"x".repeat(254)}😀.pdf`;
  const { text, files } = parseContent(
    message(
      [
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain; charset=utf-8",
        "",
        `${"x".repeat(499_999)}😀`,
        "--b",
        `Content-Type: application/pdf; name="${name}"`,
        "",
        "x",
        "--b--",
      ],
      "utf8",
    ),
  );
  expect([text.length, files[0]?.filename?.length]).toEqual([499_999, 254]);
});
