import { expect, test } from "vitest";
import { sayCode } from "#server/mail/replies/enhanced-codes";

test.each([
  [550, "5.1.1", /^There is no such mailbox\. For good/],
  [451, "4.7.1", /^The receiving side does not take this mail.* For now, a later attempt may succeed\.$/],
  [452, "4.2.2", /^The mailbox is full\. For now/],
  [550, "5.7.26", /^Neither SPF nor DKIM nor DMARC/],
  [556, "5.1.10", /^The domain says that it takes no mail at all/],
  [250, "2.0.0", /^No more than that is said\. Done\.$/],
])("%i %s is said in words, and whether for now or for good", (code, enhanced, words) =>
  expect(sayCode({ code, enhanced })).toMatch(words),
);

test("a detail that nobody registered is told by its subject", () => {
  expect(sayCode({ code: 550, enhanced: "5.7.999" })).toMatch(/^A rule of the receiving side/);
  expect(sayCode({ code: 450, enhanced: "4.4.316" })).toMatch(/^Something about the network/);
});

test("without an enhanced code the basic one speaks, and nobody guesses at what is unknown", () => {
  expect(sayCode({ code: 552, enhanced: null })).toBe(
    "The mailbox or the message is too large. For good, the same attempt would fail again.",
  );
  expect(sayCode({ code: 421, enhanced: null })).toMatch(/For now/);
  expect(sayCode({ code: 599, enhanced: null })).toBeNull();
  expect(sayCode({ code: null, enhanced: null })).toBeNull();
  expect(sayCode({ code: 550, enhanced: "9.9.9" })).toMatch(/^The mailbox cannot be had/);
  expect(sayCode({ code: null, enhanced: "5.__proto__.constructor" })).toBeNull();
});
