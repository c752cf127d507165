import fc from "fast-check";
import { expect, test } from "vitest";
import { redactBody, redactText } from "#server/services/logs/redact";

const redacted = (body: unknown) => JSON.parse(redactBody(body) ?? "null");

test("values of fields with secrets are redacted at any depth, and the names remain", () => {
  const names = [
    "token",
    "signing_secret",
    "secrets",
    "Password",
    "Authorization",
    "X-Api-Key",
    "dkim_private_key",
    "download_url",
  ];
  const body = Object.fromEntries(names.map((name) => [name, "canary"]));
  expect(redacted(body)).toEqual(Object.fromEntries(names.map((name) => [name, "[redacted]"])));
  expect(redacted({ list: [{ deep: { token: ["canary"] } }] })).toEqual({
    list: [{ deep: { token: "[redacted]" } }],
  });
  expect(redacted({ api_key_id: "018f", token: null })).toEqual({ api_key_id: "018f", token: null });
});

test("secrets within a text are redacted", () => {
  for (const secret of [
    "re_0aB1cD2eF3gH_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG_012345",
    "whsec_c2VjcmV0c2VjcmV0c2VjcmV0",
    "Bearer abc.def",
    "-----BEGIN PRIVATE KEY-----\nMIIEvg\n-----END PRIVATE KEY-----",
  ]) {
    expect(redactText(`before ${secret}`)).toBe("before [redacted]");
    expect(JSON.stringify(redacted({ note: `x ${secret}`, [secret]: 1 }))).not.toContain(secret.slice(-10));
  }
});

test("message content is omitted, and only its size remains", () => {
  expect(
    redacted([
      {
        subject: "Hello",
        html: "<p>canary</p>",
        text: "canary",
        attachments: [{ filename: "a.txt", content: "Y2FuYXJ5" }],
      },
      { attachments: [{ content: [99, 97, 110] }, { content: { type: "Buffer", data: [99] } }] },
      { template: { id: "welcome", variables: { CODE: "canary" } } },
      { variables: [{ key: "CODE", type: "string", fallback_value: null }] },
    ]),
  ).toEqual([
    {
      subject: "Hello",
      html: "[13 characters]",
      text: "[6 characters]",
      attachments: [{ filename: "a.txt", content: "[8 characters]" }],
    },
    { attachments: [{ content: "[left out]" }, { content: "[left out]" }] },
    { template: { id: "welcome", variables: { CODE: "[left out]" } } },
    { variables: [{ key: "CODE", type: "string", fallback_value: null }] },
  ]);
});

test("the password and the query are removed from a URL", () => {
  expect(redacted({ path: "https://ann:pw@example.com/a/b?key=canary#x" })).toEqual({
    path: "https://example.com/a/b?[left out]",
  });
  expect(redacted({ endpoint: "https://example.com/hooks" })).toEqual({
    endpoint: "https://example.com/hooks",
  });
});

test("long values are shortened and marked", () => {
  expect(redacted({ subject: "x".repeat(500) }).subject).toBe(`${"x".repeat(200)}…`);
  expect(redacted(Array.from({ length: 30 }, (_, n) => n))).toEqual([
    ...Array.from({ length: 20 }, (_, n) => n),
    "… and 10 more",
  ]);
  const wide = redacted(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`f${n}`, n])));
  expect(wide["…"]).toBe("and 10 more");
  expect(redactBody(undefined)).toBeNull();
  expect(redactBody(null)).toBeNull();
});

test("the result for any input is bounded JSON that PostgreSQL accepts", () => {
  fc.assert(
    fc.property(fc.anything({ maxDepth: 12, withNullPrototype: true }).filter(isJson), (body) => {
      const text = redactBody(body) ?? "null";
      expect(text.length).toBeLessThan(40_000);
      expect(() => JSON.parse(text)).not.toThrow();
      expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i);
    }),
  );
  const hostile = { "\0": "\0", "\ud800": "\udfff", __proto__: { token: "canary" } };
  expect(redactBody(JSON.parse(JSON.stringify(hostile)))).not.toMatch(/\\u0000|\\ud8|\\udf|canary/);
  expect(redactBody("😀".repeat(300))).not.toMatch(/\\ud/i);
});

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
