import fc from "fast-check";
import PostalMime from "postal-mime";
import { describe, expect, test } from "vitest";
import { composeMessage, needsSmtpUtf8 } from "#server/mail/mime/compose";
import { anyText } from "../support/any-text";
import { draft, mailbox } from "./drafts";

const wire = (overrides = {}) => Buffer.from(composeMessage(draft(overrides))).toString("latin1");
const fieldsOf = (text: string) => text.slice(0, text.indexOf("\r\n\r\n")).split(/\r\n(?! )/);
const namesOf = (text: string) => fieldsOf(text).map((field) => field.slice(0, field.indexOf(":")));

describe("a composed message", () => {
  test("has the same bytes for the same draft, and other bytes for another draft", () => {
    expect(wire()).toBe(wire());
    expect(wire({ boundarySeed: "other" })).not.toBe(wire());
  });

  test("has each structural field once, and nothing else", () => {
    const names = namesOf(
      wire({ cc: [mailbox("c@example.org")], replyTo: [mailbox("r@example.org")], headers: [["X-A", "1"]] }),
    );
    expect(names).toEqual([
      "Date",
      "From",
      "Reply-To",
      "To",
      "Cc",
      "Subject",
      "Message-ID",
      "X-A",
      "MIME-Version",
      "Content-Type",
    ]);
  });

  test("has its date with a numeric zone and its Message-ID as given", () => {
    expect(fieldsOf(wire())).toContain("Date: Mon, 03 Feb 2025 04:05:06 +0000");
    expect(fieldsOf(wire())).toContain("Message-ID: <1@example.com>");
  });

  test("with html and text has both, text first", async () => {
    const text = wire({ text: "plain", html: "<b>rich</b>" });
    expect(text).toMatch(/multipart\/alternative;.*text\/plain.*plain.*text\/html.*rich/s);
    const parsed = await PostalMime.parse(text);
    expect([parsed.text?.trim(), parsed.html?.trim()]).toEqual(["plain", "<b>rich</b>"]);
  });

  test.each([
    ["text alone", { html: null, text: "plain" }, "text/plain"],
    ["html alone, when the text is empty", { html: "<b>rich</b>", text: "" }, "text/html"],
    ["neither", { html: null, text: "" }, "text/plain"],
  ])("with %s is a single part", (_what, parts, type) => {
    const text = wire(parts);
    expect(fieldsOf(text)).toContain(`Content-Type: ${type}; charset=utf-8`);
    expect(text).not.toContain("multipart");
  });

  test("uses another boundary if the body contains the default one", async () => {
    const boundary = /boundary="([^"]+)"/.exec(wire())?.[1] ?? "";
    const text = `--${boundary}\r\nContent-Type: text/html\r\n\r\nevil\r\n--${boundary}--`;
    const bytes = wire({ text });
    expect(/boundary="([^"]+)"/.exec(bytes)?.[1]).not.toBe(boundary);
    expect((await PostalMime.parse(bytes)).text?.trim()).toBe(text.replaceAll("\r\n", "\n"));
  });

  test("has an undisclosed-recipients group without To and Cc, and no To field with only Cc", () => {
    expect(fieldsOf(wire({ to: [] }))).toContain("To: undisclosed-recipients:;");
    expect(namesOf(wire({ to: [], cc: [mailbox("c@example.org")] }))).not.toContain("To");
  });

  test("keeps non-ASCII local parts and requires SMTPUTF8", () => {
    const to = [mailbox("Jörg <jörg@münchen.de>")];
    const bytes = Buffer.from(composeMessage(draft({ to }))).toString("utf8");
    expect(bytes).toContain("To: =?UTF-8?B?SsO2cmc=?= <jörg@xn--mnchen-3ya.de>");
    expect(needsSmtpUtf8(draft({ to }))).toBe(true);
    expect(needsSmtpUtf8(draft())).toBe(false);
  });

  test("is 7-bit, with CRLF only, and with lines of at most 998 octets, for any input", async () => {
    const text = anyText(300);
    const header = text.map((each) => each.replace(/\p{Cc}/gu, ""));
    await fc.assert(
      fc.asyncProperty(header, header, text, text, async (subject, name, html, plain) => {
        const from = { ...mailbox("a@example.com"), name: name.trim() || null };
        const bytes = wire({
          subject,
          from,
          html,
          text: plain,
          headers: [["X-A", `v${subject.slice(0, 80)}`]],
        });
        expect(bytes).toMatch(/^[\t\r\n\x20-\x7e]*$/);
        expect(bytes.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
        expect(Math.max(...bytes.split("\r\n").map(({ length }) => length))).toBeLessThanOrEqual(998);
        expect(namesOf(bytes)).toEqual([
          "Date",
          "From",
          "To",
          "Subject",
          "Message-ID",
          "X-A",
          "MIME-Version",
          "Content-Type",
          ...(html === "" || plain === "" ? ["Content-Transfer-Encoding"] : []),
        ]);
        const parsed = await PostalMime.parse(bytes);
        expect(parsed.from?.address).toBe("a@example.com");
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["a line break in the subject", { subject: "a\r\nBcc: x@evil.com" }],
    ["NUL in the subject", { subject: "a\0b" }],
    ["a lone surrogate in the subject", { subject: "\ud800" }],
    ["a line break in a name", { from: { ...mailbox("a@b.c"), name: "a\r\nBcc: x@evil.com" } }],
    ["a line break in an address", { to: [{ ...mailbox("a@b.c"), address: "a@b.c\r\nBcc: x@evil.com" }] }],
    ["two addresses in one", { to: [{ ...mailbox("a@b.c"), address: "a@b.c, x@evil.com" }] }],
    ["a reserved header", { headers: [["Bcc", "x@evil.com"]] }],
    ["a line break in a header", { headers: [["X-A", "a\r\nBcc: x@evil.com"]] }],
    ["a header name with a colon", { headers: [["X-A: y\r\nBcc", "x"]] }],
    ["a Message-ID with a line break", { messageId: "<a\r\nBcc: x@evil.com>" }],
    ["a Message-ID without brackets", { messageId: "a@b.c" }],
    ["a date that is none", { date: new Date(Number.NaN) }],
  ])("is not built from a draft with %s", (_what, overrides) => {
    expect(() => wire(overrides)).toThrow(RangeError);
  });
});
