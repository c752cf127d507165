import PostalMime from "postal-mime";
import { expect, test } from "vitest";
import { parseContent } from "#server/mail/mime/raw/content";
import { hasEightBit, rewriteBodies, toSevenBit } from "#server/mail/mime/raw/convert";

const rewriteHtml = (bytes: Uint8Array, change: (html: string) => string) =>
  rewriteBodies(bytes, (body, as) => (as === "html" ? change(body) : body));

const EIGHT_BIT = Buffer.from(
  [
    "From: ann@example.org",
    "Subject: =?utf-8?q?caf=C3=A9?=",
    "MIME-Version: 1.0",
    "X-Odd:   spaced\t value ",
    'Content-Type: multipart/mixed; boundary="b"',
    "Content-Transfer-Encoding: 8bit",
    "",
    "--b",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    "Grüße, ünïcödé",
    "--b",
    "content-type: text/html; charset=utf-8",
    "",
    '<p>Größe <a href="https://example.net/a">a</a></p>',
    "--b",
    "Content-Type: application/pdf",
    "Content-Transfer-Encoding: base64",
    "",
    "AAEC",
    "--b--",
    "",
  ].join("\r\n"),
);

test("8-bit content becomes 7-bit with the same meaning, and everything else keeps its bytes", () => {
  const converted = Buffer.from(toSevenBit(EIGHT_BIT));
  expect(hasEightBit(EIGHT_BIT)).toBe(true);
  expect(hasEightBit(converted)).toBe(false);
  expect(parseContent(converted)).toEqual(parseContent(EIGHT_BIT));
  expect(converted.toString()).toContain("X-Odd:   spaced\t value \r\n");
  expect(converted.toString()).toContain("\r\n\r\nAAEC\r\n--b--\r\n");
  expect(converted.toString()).not.toMatch(/Encoding: 8bit/);
  expect(Buffer.from(toSevenBit(EIGHT_BIT)).equals(converted)).toBe(true);
});

test("a 7-bit message and 8-bit header fields are not converted", () => {
  const plain = Buffer.from("From: ann@example.org\r\n\r\nx\r\n");
  expect(toSevenBit(plain)).toBe(plain);
  const header = Buffer.from("Subject: ü\r\n\r\nx\r\n");
  expect(Buffer.from(toSevenBit(header)).equals(header)).toBe(true);
});

test("an embedded message is converted inside, because it must not be encoded itself", async () => {
  const inner =
    "Content-Type: message/rfc822\r\n\r\nSubject: in\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nß\r\n";
  const converted = Buffer.from(toSevenBit(Buffer.from(inner))).toString();
  expect(converted).toMatch(/^Content-Type: message\/rfc822\r\n\r\nSubject: in\r\n/);
  expect(converted).toMatch(/Content-Transfer-Encoding: (quoted-printable|base64)/);
});

test("only the HTML body is rewritten, and an unchanged one keeps its bytes", async () => {
  const rewritten = Buffer.from(
    rewriteHtml(EIGHT_BIT, (html) => html.replace("https://example.net/a", "https://t.example")),
  );
  const parsed = await PostalMime.parse(rewritten);
  expect(parsed.html).toContain('Größe <a href="https://t.example">');
  expect(parsed.text).toContain("Grüße, ünïcödé");
  expect(rewriteHtml(EIGHT_BIT, (html) => html)).toBe(EIGHT_BIT);
  const signed = Buffer.from(
    "Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\nContent-Type: text/html\r\n\r\n<p>x</p>\r\n--s--\r\n",
  );
  expect(rewriteHtml(signed, () => "changed")).toBe(signed);
});

const htmlPart = (fields: string, html: Buffer) =>
  Buffer.concat([Buffer.from(`From: ann@example.org\r\n${fields}\r\n\r\n`), html]);

test.each([
  ["an inline file", "Content-Type: text/html\r\nContent-Disposition: inline; filename=report.html"],
  [
    "an inline file with an encoded name",
    "Content-Type: text/html\r\nContent-Disposition: inline; filename*=''r%2Ehtml",
  ],
  ["a part with a name", 'Content-Type: text/html; name="report.html"'],
])("the HTML of %s is a file and is not rewritten", (_name, fields) => {
  const bytes = htmlPart(fields, Buffer.from("<p>x</p>"));
  expect(rewriteHtml(bytes, () => "changed")).toBe(bytes);
  expect(parseContent(bytes)).toMatchObject({ html: null, files: [{ contentType: "text/html" }] });
});

test.each(["windows-1252", "iso-8859-1", "us-ascii"])("HTML in %s is decoded as browsers do", (charset) => {
  const bytes = htmlPart(
    `Content-Type: text/html; charset=${charset}`,
    Buffer.from("<p>\x80 5 \x96 caf\xe9</p>", "latin1"),
  );
  let seen = "";
  rewriteHtml(bytes, (html) => {
    seen = html;
    return html;
  });
  expect(seen.trim()).toBe("<p>€ 5 – café</p>");
});

test.each([
  ["an unknown character set", "x-unknown", "<p>Größe</p>"],
  ["bytes that are not in its character set", "utf-8", "<p>Gr\xf6\xdfe</p>"],
])("HTML with %s is not rewritten", (_name, charset, html) => {
  const bytes = htmlPart(`Content-Type: text/html; charset=${charset}`, Buffer.from(html, "latin1"));
  expect(rewriteHtml(bytes, () => "changed")).toBe(bytes);
});
