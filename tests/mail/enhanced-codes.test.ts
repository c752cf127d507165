import { expect, test } from "vitest";
import { explainCode } from "#server/mail/replies/enhanced-codes";

test.each([
  [550, "5.1.1", /^The mailbox does not exist\. Permanent failure/],
  [
    451,
    "4.7.1",
    /^The receiving server does not accept this message now\. Temporary failure: a later attempt may/,
  ],
  [550, "5.7.1", /^The receiving server does not accept this message: .* is not allowed\. Permanent failure/],
  [452, "4.2.2", /^The mailbox is full\. Temporary failure/],
  [550, "5.7.26", /^SPF, DKIM and DMARC checks failed/],
  [556, "5.1.10", /^The domain does not accept email/],
  [250, "2.0.0", /^Unspecified status\. Success\.$/],
])("%i %s is explained, with its severity", (code, enhanced, words) =>
  expect(explainCode({ code, enhanced })).toMatch(words),
);

test("an unregistered detail is explained by its subject", () => {
  expect(explainCode({ code: 550, enhanced: "5.7.999" })).toMatch(/^Unspecified security or policy problem/);
  expect(explainCode({ code: 450, enhanced: "4.4.316" })).toMatch(/^Unspecified problem with the network/);
});

test("without an enhanced code the basic code is explained; an unknown code is null", () => {
  expect(explainCode({ code: 552, enhanced: null })).toBe(
    "The mailbox or the message is too large. Permanent failure: retrying will not help.",
  );
  expect(explainCode({ code: 421, enhanced: null })).toMatch(/Temporary failure/);
  expect(explainCode({ code: 599, enhanced: null })).toBeNull();
  expect(explainCode({ code: null, enhanced: null })).toBeNull();
  expect(explainCode({ code: 550, enhanced: "9.9.9" })).toMatch(/^The mailbox is unavailable/);
  expect(explainCode({ code: null, enhanced: "5.__proto__.constructor" })).toBeNull();
});
