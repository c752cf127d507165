import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeBody } from "#server/mail/mime/encode-body";
import { addressField, rawField, textField } from "#server/mail/mime/encode-header";
import { anyText } from "../support/any-text";
import { mailbox } from "./drafts";

/** An independent decoder for RFC 2045: removes soft line breaks and decodes escapes. */
function decodeBody({ encoding, bytes }: ReturnType<typeof encodeBody>): string {
  const text = bytes.toString("latin1");
  if (encoding === "7bit") return text;
  if (encoding === "base64") return Buffer.from(text, "base64").toString("utf8");
  const plain = text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(plain, "latin1").toString("utf8");
}

/** An independent decoder for RFC 2047 and 5322: unfolds, joins adjacent encoded words, decodes. */
function decodeField(field: string): string {
  const value = field
    .slice(field.indexOf(":") + 1)
    .replace(/\r\n(?=[ \t])/g, "")
    .replace(/\r\n$/, "")
    .trim();
  return value
    .replace(/\?= +=\?/g, "?==?")
    .replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, mode: string, text: string) => {
      if (mode === "B") return Buffer.from(text, "base64").toString("utf8");
      const plain = text
        .replaceAll("_", " ")
        .replace(/=([0-9A-F]{2})/g, (__, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
      return Buffer.from(plain, "latin1").toString("utf8");
    });
}

const withCrlf = (text: string) => text.replace(/\r\n|\r|\n/g, "\r\n");
const linesOf = (text: string) => text.split("\r\n");

const longText = anyText(400);
const bodyPiece = fc.oneof(
  longText,
  fc.constantFrom(
    "\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    "=",
    ".",
    "..",
    "From ",
    "\0",
    "é",
    "日本",
    "👨‍👩‍👧‍👦",
    '<td style="a:b">',
  ),
  fc.integer({ min: 70, max: 80 }).map((length) => "x".repeat(length)),
);
const body = fc.array(bodyPiece, { maxLength: 40 }).map((pieces) => pieces.join(""));
const line = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 300 }),
    longText,
    fc
      .array(fc.constantFrom("a", " ", "é", "=?", "👨‍👩‍👧‍👦", "_", '"', "\\", "日本語", "x".repeat(80)), {
        maxLength: 30,
      })
      .map((pieces) => pieces.join("")),
  )
  .map((text) => text.replace(/[\p{Cc}\p{Cs}]/gu, ""));

describe("a body", () => {
  test("decodes to the original, in 7-bit lines of at most 76 characters with CRLF", () => {
    fc.assert(
      fc.property(body, (text) => {
        const encoded = encodeBody(text);
        expect(decodeBody(encoded)).toBe(withCrlf(text));
        const wire = encoded.bytes.toString("latin1");
        expect(wire).toMatch(/^[\t\r\n\x20-\x7e]*$/);
        expect(wire.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
        expect(linesOf(wire).filter((each) => each.length > 76 || /[ \t]$|^\.$|^From /.test(each))).toEqual(
          [],
        );
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    ["Plain and short.\r\nSecond line.", "7bit"],
    ["x".repeat(77), "quoted-printable"],
    ["Mostly ASCII, with an é.", "quoted-printable"],
    ["日本語のテキスト", "base64"],
    ["", "7bit"],
  ])("%j uses the shortest encoding: %s", (text, encoding) => {
    expect(encodeBody(text).encoding).toBe(encoding);
  });

  test("of a megabyte in one line is split", () => {
    for (const unit of ["x", "=", "é", " "]) {
      const text = unit.repeat(1_000_000);
      const encoded = encodeBody(text);
      expect(decodeBody(encoded) === text).toBe(true);
      expect(
        Math.max(...linesOf(encoded.bytes.toString("latin1")).map((each) => each.length)),
      ).toBeLessThanOrEqual(76);
    }
  });
});

describe("a text field", () => {
  test("decodes to the original, in 7-bit lines of at most 76 characters", () => {
    fc.assert(
      fc.property(line, (text) => {
        const field = textField("Subject", text);
        expect(field).toMatch(/^Subject:[ \r].*\r\n$/s);
        for (const each of linesOf(field)) expect(each.length).toBeLessThanOrEqual(76);
        expect(field).toMatch(/^[\r\n\x20-\x7e]*$/);
        expect(field.replace(/\r\n(?= [^ \r]|$)/g, "")).not.toMatch(/[\r\n]/);
        expect(decodeField(field)).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  test("never splits a character, or a grapheme that fits in one encoded word", () => {
    const words = (text: string) => [...textField("Subject", text).matchAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/g)];
    for (const unit of ["👨‍👩‍👧‍👦", "日", "é", "กำ", "🇬🇷", "z͑ͫ̓"]) {
      for (let shift = 0; shift < 8; shift += 1) {
        const text = "a".repeat(shift) + unit.repeat(40);
        for (const [, mode, payload] of words(text)) {
          const decoded = decodeField(`X: =?UTF-8?${mode}?${payload}?=`);
          expect(decoded).not.toContain("\ufffd");
          expect(decoded.replaceAll(unit, "").replace(/^a*/, "")).toBe("");
        }
      }
    }
  });

  test("splits a grapheme that is longer than an encoded word", () => {
    const zalgo = `z${"\u0351".repeat(100)}`;
    expect(decodeField(textField("Subject", zalgo))).toBe(zalgo);
  });

  test.each([
    "Hello",
    "Hello, world",
    "a  b",
    " a",
    "a ",
    "=?utf-8?Q?x?=",
    "x".repeat(900),
    `${"word ".repeat(179)}words`,
    "",
  ])("%j stays unchanged", (text) => {
    expect(decodeField(textField("Subject", text))).toBe(text);
  });

  test("of plain ASCII is not encoded", () => {
    expect(textField("Subject", "Your order 4711")).toBe("Subject: Your order 4711\r\n");
  });
});

describe("a raw field", () => {
  test("is folded only at blanks, and unfolds to the same value", () => {
    const value = fc.array(fc.constantFrom("a", "bc", " ", "  ", "<https://example.com/x>", "y".repeat(90)), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(value, (pieces) => {
        const text = pieces.join("").trim();
        fc.pre(text !== "");
        const field = rawField("X-A", text);
        expect(decodeField(field)).toBe(text);
        for (const each of linesOf(field)) expect(each.length).toBeLessThanOrEqual(998);
        expect(field).not.toMatch(/\r\n\s*\r\n/);
      }),
    );
  });

  test("of the maximum size does not exceed the line limit", () => {
    for (const each of linesOf(rawField("x".repeat(76), "y".repeat(920))))
      expect(each.length).toBeLessThanOrEqual(998);
  });
});

describe("an address field", () => {
  test("never breaks or encodes an address, whatever the names", () => {
    const name = line.map((text) => text.trim().slice(0, 200)).filter((text) => text !== "");
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 8 }), (names) => {
        const people = names.map((text, index) => ({
          ...mailbox(`person${index}@example.com`),
          name: text.replace(/\p{Cs}/gu, "") || null,
        }));
        const field = addressField("To", people);
        expect(field).toMatch(/^[\r\n\x20-\x7e]*$/);
        for (const each of linesOf(field)) expect(each.length).toBeLessThanOrEqual(78);
        for (const { address } of people) expect(field).toContain(address);
        expect(field.match(/@example\.com/g)?.length).toBeGreaterThanOrEqual(people.length);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["Ann Smith <a@b.c>", "To: Ann Smith <a@b.c>\r\n"],
    ['"Smith, Ann" <a@b.c>', 'To: "Smith, Ann" <a@b.c>\r\n'],
    ["x@evil.com <a@b.c>", 'To: "x@evil.com" <a@b.c>\r\n'],
    ['"Ann \\\\" <a@b.c>', 'To: "Ann \\\\" <a@b.c>\r\n'],
    ["Ann K. Smith <a@b.c>", 'To: "Ann K. Smith" <a@b.c>\r\n'],
    ["Jörg <a@b.c>", "To: =?UTF-8?B?SsO2cmc=?= <a@b.c>\r\n"],
    ["a@b.c", "To: a@b.c\r\n"],
    ["jörg@b.c", "To: jörg@b.c\r\n"],
  ])("%s", (text, field) => {
    expect(addressField("To", [mailbox(text)])).toBe(field);
  });
});
