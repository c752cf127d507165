import { expect, test } from "vitest";
import { CAPTURED_ADVICE } from "#server/shared/email-words";
import { splitCode } from "../../app/console/_ui/text/address";

const codeIn = (message: string): string[] => {
  const pieces = splitCode(message);
  expect(pieces.map(({ text }) => text).join("")).toBe(message.replaceAll("`", ""));
  return pieces.flatMap(({ text, isCode }) => (isCode ? [text] : []));
};

test.each([
  [CAPTURED_ADVICE, ["SMTP_URL", "direct:", "npm start"]],
  ["Start one with `backstamp worker`, or call a URL.", ["backstamp worker"]],
  [
    "Set SMTP_URL and restart, or add a relay: backstamp relay add. Then wait.",
    ["SMTP_URL", "backstamp relay add"],
  ],
  ["For the reason, run: npm run -s backstamp -- queue status.", ["npm run -s backstamp -- queue status"]],
  ["They are overloaded: run backstamp doctor, then add workers.", ["backstamp doctor"]],
  ["Set BACKSTAMP_TRUSTED_HOPS=2, unless a proxy is missing.", ["BACKSTAMP_TRUSTED_HOPS=2"]],
])("a page shows settings and commands of a message as code: %s", (message, code) => {
  expect(codeIn(message)).toEqual(code);
});

test.each([
  "Only email to the test domain backstamp.test is delivered.",
  "Backstamp responds with 451 4.7.1 to ann@example.com.",
  "Results: TLS is used.",
])("and no other words: %s", (message) => {
  expect(codeIn(message)).toEqual([]);
});
