import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatMailbox, parseDomainName, parseMailbox } from "#server/mail/address/address";
import { anyText } from "../support/any-text";

const read = (input: string) => {
  const parsed = parseMailbox(input);
  return parsed.ok ? [parsed.mailbox.name, parsed.mailbox.address] : parsed.fault;
};

describe("a mailbox is parsed", () => {
  test.each<[input: string, name: string | null, address: string]>([
    ["a@b.c", null, "a@b.c"],
    ["  a@b.c  ", null, "a@b.c"],
    ["<a@b.c>", null, "a@b.c"],
    ["Ann <a@b.c>", "Ann", "a@b.c"],
    ["Ann<a@b.c>", "Ann", "a@b.c"],
    ["Ann K. O'Neil-Smith & Co. <a@b.c>", "Ann K. O'Neil-Smith & Co.", "a@b.c"],
    ["Jörg Groß <a@b.c>", "Jörg Groß", "a@b.c"],
    ["山田 太郎 <a@b.c>", "山田 太郎", "a@b.c"],
    ["👩🏽‍🚀 Crew <a@b.c>", "👩🏽‍🚀 Crew", "a@b.c"],
    ["[ACME] Bot <a@b.c>", "[ACME] Bot", "a@b.c"],
    ["a@evil.com <b@linked.com>", "a@evil.com", "b@linked.com"],
    ['"a@evil.com" <b@linked.com>', "a@evil.com", "b@linked.com"],
    ['"Doe, Jane (Sales) <x@y.z>; \\"JD\\" \\\\" <j@b.c>', 'Doe, Jane (Sales) <x@y.z>; "JD" \\', "j@b.c"],
    ['"" <a@b.c>', null, "a@b.c"],
    ["a.b+c-d_e=f/g{h}|i~j!#$%&'*?^`@b.c", null, "a.b+c-d_e=f/g{h}|i~j!#$%&'*?^`@b.c"],
    ["A@B.C", null, "A@b.c"],
    ["a@xn--mnchen-3ya.de", null, "a@xn--mnchen-3ya.de"],
    ["a@München.de", null, "a@xn--mnchen-3ya.de"],
    ["a@linked。com", null, "a@linked.com"],
    ["a@ｌinked.com", null, "a@linked.com"],
    ["a@lin\u00adked.com", null, "a@linked.com"],
    ["a@lаbel.com", null, "a@xn--lbel-53d.com"],
    ["a@faß.de", null, "a@xn--fa-hia.de"],
    [`${"a".repeat(64)}@${"b".repeat(63)}.c`, null, `${"a".repeat(64)}@${"b".repeat(63)}.c`],
  ])("%s", (input, name, address) => {
    expect(read(input)).toEqual([name, address]);
  });

  test("with a flag if its local part needs SMTPUTF8, and in composed form", () => {
    expect(parseMailbox("jo\u0308rg@example.com")).toEqual({
      ok: true,
      mailbox: {
        name: null,
        local: "jörg",
        domain: "example.com",
        address: "jörg@example.com",
        smtpUtf8: true,
      },
    });
    expect(parseMailbox("a@münchen.de")).toMatchObject({ mailbox: { smtpUtf8: false } });
  });

  test("with a line separator in its name, which must be encoded in a header", () => {
    expect(read("Ann\u2028Smith <a@b.c>")).toEqual(["Ann\u2028Smith", "a@b.c"]);
  });
});

describe("input that parsers could interpret differently is rejected", () => {
  test.each<[input: string, hint: RegExp]>([
    ["", /empty/],
    ["   ", /empty/],
    ["ann", /no "@"/],
    ["Ann <ann>", /no "@"/],
    ["<a@evil.com> <b@linked.com>", /one mailbox/],
    ["a@linked.com@evil.com", /more than one "@"/],
    ["<a@linked.com@evil.com>", /more than one "@"/],
    ["a@linked.com\0@evil.com", /control/],
    ["a@linked.com\r\nBcc: x@evil.com", /control/],
    ["Ann\r\n <a@b.c>", /control/],
    ["Ann\tB <a@b.c>", /control/],
    ["Ann\u0085 <a@b.c>", /control/],
    ["a(@linked.com)@evil.com", /[Cc]omments/],
    ["a@(linked.com)evil.com", /[Cc]omments/],
    ["(comment) a@b.c", /[Cc]omments|name before/],
    ["Ann (Sales) <a@b.c>", /double quotes/],
    ["'a@evil.com' b@linked.com", /name before/],
    ["a@evil.com b@linked.com", /name before/],
    ["a@linked.com, x@evil.com", /array/],
    ["a@linked.com,x@evil.com", /array/],
    ["a@linked.com; x@evil.com", /array/],
    ["Ann <a@b.c>, Bob <b@c.d>", /must be quoted/],
    ["a@evil.com, Bob <b@linked.com>", /double quotes/],
    ["@evil.com:b@linked.com", /routes/],
    ["<@evil.com:b@linked.com>", /routes/],
    ["Team: a@b.c;", /Only one|routes/],
    ["Team: Ann <a@b.c>;", /follows/],
    ["undisclosed-recipients:;", /no "@"/],
    ['"a@linked.com"@evil.com', /[Qq]uoted local/],
    ['"a b"@c.de', /[Qq]uoted local/],
    ['<"a"@c.de>', /[Qq]uoted local/],
    ["a@[127.0.0.1]", /IP addresses/],
    ["a@[IPv6:::1]", /IP addresses/],
    ["a@127.0.0.1", /IP addresses/],
    ["a@0x7f.1", /IP addresses/],
    ["a@１２７.0.0.1", /IP addresses/],
    ["a@localhost", /one label/],
    ["a@b", /one label/],
    ["a@", /domain is missing/],
    ["@b.c", /before the "@"/],
    [".a@b.c", /A dot before/],
    ["a.@b.c", /A dot before/],
    ["a..b@b.c", /A dot before/],
    ["a@b..c", /Each label/],
    ["a@.b.c", /Each label/],
    ["a@b.c.", /ends with a dot/],
    ["a@-b.c", /Each label/],
    ["a@b-.c", /Each label/],
    ["a@b_c.d", /invalid character/],
    ["a@b%2ec.d", /invalid character/],
    ["a@b.c/d", /invalid character/],
    ["a@b.c?d", /invalid character/],
    ["a@b.c#d", /invalid character/],
    ["a@b.c\\d", /invalid character/],
    ["a@b／c.d", /letters, digits/],
    ["a@b．．c", /Each label/],
    ["a@xn--a.com", /IDNA/],
    ["a@ex\u200dample.com", /IDNA/],
    ["a\u202eb@c.de", /not allowed before/],
    ["a\u00a0b@c.de", /name before/],
    ["a\u200bb@c.de", /not allowed before/],
    ["a\ud800@b.c", /surrogate/],
    ["\udfff <a@b.c>", /surrogate/],
    ["a@\ud800.c", /surrogate/],
    ['"Ann <a@b.c>', /quotes/],
    ['Ann" <a@b.c>', /must be quoted/],
    ['"Ann" B <a@b.c>', /quotes/],
    ['"Ann\\" <a@b.c>', /quotes/],
    ["Ann <a@b.c> x", /follows/],
    ["Ann <a@b.c", /follows/],
    ["Ann a@b.c>", /opening/],
    ["Ann < a@b.c >", /name before/],
    ["Ann <<a@b.c>>", /one mailbox|must be quoted|contains/],
    ["mailto:a@b.c", /routes/],
    [`${"a".repeat(65)}@b.c`, /64/],
    [`${"ä".repeat(33)}@b.c`, /64/],
    [`a@${"b".repeat(64)}.c`, /63/],
    [`a@${"b.".repeat(127)}cc`, /255/],
    [`${"x".repeat(1000)} <a@b.c>`, /1000/],
  ])("%j", (input, hint) => {
    const parsed = parseMailbox(input);
    expect(parsed.ok ? "accepted" : parsed.fault).toMatch(hint);
  });

  test("with a message without line breaks and without the hostile text", () => {
    const parsed = parseMailbox("a@b.c\r\nBcc: x@evil.com");
    expect(parsed.ok ? "" : parsed.fault).toMatch(/^[A-Z][^\r\n]*\.$/);
    expect(JSON.stringify(parsed)).not.toContain("evil");
  });
});

test("an address is never parsed as a different domain than the one sent to", () => {
  const piece = fc.constantFrom(
    "a",
    "@",
    "linked.com",
    "evil.com",
    "<",
    ">",
    '"',
    "(",
    ")",
    ",",
    ":",
    ";",
    " ",
    "\\",
    ".",
    "\0",
    "\r\n",
    "'",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const parsed = parseMailbox(pieces.join(""));
      if (!parsed.ok) return;
      const { address, local, domain } = parsed.mailbox;
      expect(address).toBe(`${local}@${domain}`);
      expect(address.split("@")).toHaveLength(2);
      expect(address).toMatch(/^[a-z.']+@[a-z.]+$/);
    }),
    { numRuns: 5000 },
  );
});

test("parseMailbox parses everything that formatMailbox returns", () => {
  const name = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
    .map((text) => text.replace(/[\p{Cc}\p{Cs}]/gu, "").trim());
  fc.assert(
    fc.property(name, (text) => {
      const mailbox = { name: text.replace(/^ +| +$/g, "") || null, address: "a@b.c" };
      expect(parseMailbox(formatMailbox(mailbox))).toMatchObject({ ok: true, mailbox });
    }),
    { numRuns: 2000 },
  );
});

test("any text of any size is parsed without an exception and in linear time", () => {
  fc.assert(
    fc.property(anyText(2000), (text) => void parseMailbox(text)),
    { numRuns: 2000 },
  );
  for (const unit of ["(", '"', "a:", "<", "\\", ",", "a@", ".", "<>", "ä", "\u200d"]) {
    const parsed = parseMailbox(unit.repeat(100_000));
    expect(parsed.ok).toBe(false);
    for (const text of [unit.repeat(400), `${unit.repeat(400)} <a@b.c>`, `a@${unit.repeat(250)}`])
      parseMailbox(text);
  }
});

test("a domain name is normalized to the form that is compared and sent", () => {
  expect(parseDomainName("Mail.MÜNCHEN.de")).toEqual({ ok: true, domain: "mail.xn--mnchen-3ya.de" });
  expect(parseDomainName("example.com.")).toMatchObject({ ok: false });
  expect(parseDomainName("localhost")).toMatchObject({ ok: false });
});
