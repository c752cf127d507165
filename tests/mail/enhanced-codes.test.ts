import { expect, test } from "vitest";
import { explainCode } from "#server/mail/replies/enhanced-codes";

test.each([
  [
    { code: 550, enhanced: "5.7.1" },
    { code: 550, enhanced: "5.7.26" },
  ],
  [
    { code: 451, enhanced: "4.7.1" },
    { code: 550, enhanced: "5.7.1" },
  ],
  // An unregistered detail has the explanation of its subject, an impossible code that of the basic code.
  [
    { code: 550, enhanced: "5.7.999" },
    { code: 550, enhanced: "5.4.999" },
  ],
  [
    { code: 550, enhanced: "9.9.9" },
    { code: 552, enhanced: null },
  ],
])("%j and %j have different explanations", (one, other) => {
  const [first, second] = [explainCode(one), explainCode(other)];
  expect([typeof first, typeof second]).toEqual(["string", "string"]);
  expect(first).not.toBe(second);
});

test.each([
  { code: 599, enhanced: null },
  { code: null, enhanced: null },
  { code: null, enhanced: "5.__proto__.constructor" },
])("%j is unknown", (code) => expect(explainCode(code)).toBeNull());
