import { createPrivateKey, createPublicKey, verify } from "node:crypto";
import { expect, test } from "vitest";
import { canonicalizeBody, canonicalizeField, splitMessage } from "#server/mail/dkim/relaxed";
import { canonicalizeFields, groupByName, signData, signMessage } from "#server/mail/dkim/sign";

/** The message of RFC 8463 appendix A.3. */
const MESSAGE = Buffer.from(
  [
    "From: Joe SixPack <joe@football.example.com>",
    "To: Suzie Q <suzie@shopping.example.net>",
    "Subject: Is dinner ready?",
    "Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)",
    "Message-ID: <20030712040037.46341.5F8J@football.example.com>",
    "",
    "Hi.",
    "",
    "We lost the game.  Are you hungry yet?",
    "",
    "Joe.",
    "",
  ].join("\r\n"),
);
const NAMES = ["from", "to", "subject", "date", "message-id", "from", "subject", "date"];
const BODY_HASH = "2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=";
const fieldOf = (algorithm: string, selector: string) =>
  [
    `DKIM-Signature: v=1; a=${algorithm}-sha256; c=relaxed/relaxed;`,
    ` d=football.example.com; i=@football.example.com;`,
    ` q=dns/txt; s=${selector}; t=1528637909; h=from : to :`,
    ` subject : date : message-id : from : subject : date;`,
    ` bh=${BODY_HASH};`,
    ` b=`,
  ].join("\r\n");

const ED25519_SEED = "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
const ED25519_SIGNATURE =
  "/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11BusFa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==";
const RSA_PUBLIC =
  "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB";
const RSA_SIGNATURE =
  "F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2JzdA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=";

const ed25519 = createPrivateKey({
  key: Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(ED25519_SEED, "base64"),
  ]),
  format: "der",
  type: "pkcs8",
});

const signedData = (fields: string[], unsigned: string) =>
  Buffer.from(canonicalizeFields(groupByName(fields), NAMES) + canonicalizeField(unsigned), "latin1");

test("the Ed25519 signature of RFC 8463 appendix A is reproduced exactly", async () => {
  const { fields } = splitMessage(MESSAGE);
  const key = {
    algorithm: "ed25519",
    domain: "football.example.com",
    selector: "brisbane",
    privateKey: ed25519,
  } as const;
  expect(await signData(key, signedData(fields, fieldOf("ed25519", "brisbane")))).toBe(ED25519_SIGNATURE);
});

test("the RSA signature of RFC 8463 appendix A is valid for the text that we would sign", () => {
  const { fields } = splitMessage(MESSAGE);
  const key = createPublicKey({ key: Buffer.from(RSA_PUBLIC, "base64"), format: "der", type: "spki" });
  const data = signedData(fields, fieldOf("rsa", "test"));
  expect(verify("sha256", data, key, Buffer.from(RSA_SIGNATURE, "base64"))).toBe(true);
});

test("our signature of the message of RFC 8463 appendix A contains its body hash", async () => {
  const key = {
    algorithm: "ed25519",
    domain: "football.example.com",
    selector: "brisbane",
    privateKey: ed25519,
  } as const;
  const signed = await signMessage(MESSAGE, [key], new Date(1_528_637_909_000));
  expect(Buffer.from(signed).toString()).toContain(`bh=${BODY_HASH};`);
});

test.each([
  ["", ""],
  ["\r\n\r\n", ""],
  [" \t\r\n \r\n", ""],
  ["a", "a\r\n"],
  ["a \t b\t\r\n\r\n \r\n", "a b\r\n"],
  [" C \r\nD \t E\r\n\r\n\r\n", " C\r\nD E\r\n"],
  ["\r\na\r\n\r\nb\r\n", "\r\na\r\n\r\nb\r\n"],
  ["a\rb\nc", "a\rb\nc\r\n"],
  ["a  ", "a\r\n"],
])("the relaxed form of the body %j is %j", (body, relaxed) => {
  expect(canonicalizeBody(Buffer.from(body)).toString()).toBe(relaxed);
});

test.each([
  ["A: X", "a:X"],
  ["B : Y\t\r\n\tZ  ", "b:Y Z"],
  ["Subject:", "subject:"],
  ["X:a:b", "x:a:b"],
])("the relaxed form of the field %j is %j", (field, relaxed) => {
  expect(canonicalizeField(field)).toBe(relaxed);
});
