import { expect, test, vi } from "vitest";
import { checkMessageForm } from "#server/mail/mime/raw/check";

const check = (text: string, encoding: BufferEncoding = "latin1") =>
  checkMessageForm(Buffer.from(text, encoding));
const HEAD = "From: ann@example.org\r\n\r\n";

test.each([
  ["a bare LF", `${HEAD}one\ntwo\r\n`, /^Line 3 ends in a bare LF/],
  ["a bare CR", `${HEAD}one\rtwo\r\n`, /^Line 3 contains a bare CR/],
  ["a bare CR before CRLF", `${HEAD}one\r\r\n`, /^Line 3 contains a bare CR/],
  ["a bare CR at the end", `${HEAD}one\r`, /^Line 3 contains a bare CR/],
  ["a bare LF in the header", "From: ann@example.org\nSubject: x\r\n\r\n", /^Line 1 ends in a bare LF/],
  ["a line of 999 octets", `${HEAD}${"x".repeat(999)}\r\n`, /^Line 3 has 999 octets/],
  ["a long last line", `${HEAD}${"x".repeat(999)}`, /^Line 3 has 999 octets/],
  ["a NUL", `${HEAD}a\0b\r\n`, /NUL/],
  ["a line without a field name", "From: a@example.org\r\nnonsense\r\n\r\n", /"nonsense"/],
  ["a header of more than 256 KB", `${"a: 0123456789\r\n".repeat(20_000)}\r\n`, /larger than 256 KB/],
  ["a header of more than 1,000 fields", `${"a: b\r\n".repeat(1_001)}\r\n`, /1001 fields/],
  ["a header that is not UTF-8", "Subject: \xe9\r\n\r\n", /not UTF-8/],
])("%s is rejected with the place", (_name, text, reason) => {
  expect(check(text)).toMatch(reason);
});

test("lines of 998 octets, 8-bit content, folded fields and UTF-8 fields are valid", () => {
  expect(check(`${HEAD}${"x".repeat(998)}\r\n\xff\xfe\r\n`)).toBeNull();
  expect(check(`${HEAD}${"x".repeat(998)}`)).toBeNull();
  expect(check("Subject: one\r\n two\r\nFrom: Änn <ann@example.org>\r\n\r\n", "utf8")).toBeNull();
  expect(check("Subject: no body\r\n")).toBeNull();
});

test("a header that is too large is rejected without splitting it into fields", () => {
  const split = vi.spyOn(String.prototype, "split");
  expect(check("a:\r\n".repeat(100_000))).toBe("The header is larger than 256 KB.");
  expect(split).not.toHaveBeenCalled();
  split.mockRestore();
});
