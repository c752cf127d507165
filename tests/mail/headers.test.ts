import { describe, expect, test } from "vitest";
import { checkHeader, checkHeaders, checkHeaderText } from "#server/mail/mime/headers";

const RESERVED = [
  "From",
  "Sender",
  "To",
  "Cc",
  "Bcc",
  "Reply-To",
  "Subject",
  "Date",
  "Message-ID",
  "MIME-Version",
  "Content-Type",
  "Content-Transfer-Encoding",
  "Content-ID",
  "Content-Anything",
  "DKIM-Signature",
  "ARC-Seal",
  "ARC-Authentication-Results",
  "Authentication-Results",
  "Received",
  "Return-Path",
  "Resent-To",
  "Resent-From",
  "Delivered-To",
  "X-Backstamp-Id",
  "X-SMTPAPI",
  "X-MC-BccAddress",
];

describe("a custom header", () => {
  test.each([
    ["X-Entity-Ref-ID", "123"],
    ["X-Priority", "1 (Highest)"],
    ["Auto-Submitted", "auto-generated"],
    ["Content-Language", "de"],
    ["In-Reply-To", "<1@example.com>"],
    ["References", "<1@example.com> <2@example.com>"],
    ["List-Unsubscribe", "<https://example.com/u/1>"],
    ["List-Unsubscribe", "<mailto:u@example.com?subject=x>, <https://example.com/u/1>"],
    ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
    ["List-Id", "News <news.example.com>"],
    ["X-Name", "Jörg 👋"],
    ["X-Json", '{"a": [1, 2], "b": "x, y; z"}'],
    ["X-Long", "x".repeat(990)],
    ["a", "b"],
  ])("%s is allowed", (name, value) => {
    expect(checkHeader(name, value)).toBeNull();
  });

  test.each(RESERVED.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()]))(
    "%s is reserved",
    (name) => {
      expect(checkHeader(name, "x@example.com")).toMatch(/cannot be set/);
    },
  );

  test.each([
    "From ",
    "from\t",
    " From",
    "From:",
    "",
    "X Y",
    "X_Y",
    "X\r\nBcc",
    "X\0",
    "Fröm",
    "b\u0131cc",
    "x".repeat(77),
    "__proto__",
  ])("%j is not a valid name", (name) => {
    expect(checkHeader(name, "x")).toMatch(/not a valid header name/);
  });

  test.each([
    ["a\r\nBcc: x@evil.com"],
    ["a\nb"],
    ["a\rb"],
    ["a\0b"],
    ["a\u007fb"],
    ["a\u0085b"],
    ["a\tb"],
    ["\ud800"],
    ["a\udfffb"],
    [""],
    ["   "],
    ["x".repeat(995)],
    ["ü".repeat(500)],
  ])("value %j is rejected", (value) => {
    expect(checkHeader("X-A", value)).toMatch(/^The header X-A /);
  });

  test.each([
    ["List-Unsubscribe", "https://example.com"],
    ["List-Unsubscribe", "<javascript:alert(1)>"],
    ["List-Unsubscribe", "<https://a.b> junk"],
    ["List-Unsubscribe-Post", "yes"],
    ["References", "<ä@example.com>"],
  ])("%s: %s is invalid", (name, value) => {
    expect(checkHeader(name, value)).not.toBeNull();
  });

  test("is allowed once, case-insensitively", () => {
    expect(
      checkHeaders([
        ["X-A", "1"],
        ["X-B", "2"],
      ]),
    ).toBeNull();
    expect(
      checkHeaders([
        ["X-A", "1"],
        ["x-a", "2"],
      ]),
    ).toMatch(/more than once/);
  });
});

test("line and paragraph separators are text, line breaks are not", () => {
  expect(checkHeaderText("The subject", "a\u2028b\u2029c")).toBeNull();
  expect(checkHeaderText("The subject", "a\nb")).toBe("The subject must be one line. Remove the line break.");
});
