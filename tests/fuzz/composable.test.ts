import fc from "fast-check";
import PostalMime from "postal-mime";
import { expect, test } from "vitest";
import { openTestApp } from "../rest/test-app";
import { anyText } from "../support/any-text";

const app = await openTestApp();

const clean = (text: string) => text.replace(/[\p{Cc}\p{Cs}]/gu, "");
const name = fc
  .tuple(
    fc.constantFrom(
      "a",
      "Ж ",
      "😀",
      "é",
      "👩🏽‍🚀",
      '"',
      "\\",
      "=?",
      "@",
      ", ",
      "ß",
      "e\u0301\u0302",
      "=?utf-8?q?=0D=0A?=",
    ),
    fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 30 }) }, fc.integer({ min: 30, max: 500 })),
    anyText(30),
  )
  .map(([piece, times, rest]) => clean(piece.repeat(times) + rest));
const address = fc.constantFrom(
  "ben@example.net",
  "jörg@example.net",
  "ben@bücher.example",
  "b.e.n+x@ßß.example",
);
const mailboxWith = (local: fc.Arbitrary<string>) =>
  fc
    .tuple(name, local, fc.integer({ min: 0, max: 4 }))
    .map(([label, at, plainness]) =>
      plainness < 4 ? `"${label.replace(/["\\]/g, "\\$&")}" <${at}>` : `${label} <${at}>`,
    );
const newEmail = fc.record(
  {
    from: mailboxWith(fc.constant("ann@example.org")),
    to: fc.array(mailboxWith(address), { minLength: 1, maxLength: 3 }),
    cc: mailboxWith(address),
    reply_to: mailboxWith(address),
    subject: name,
    text: anyText(300),
    headers: fc.dictionary(fc.constantFrom("X-One", "X-Two", "Feedback-ID"), name, { maxKeys: 2 }),
    attachments: fc.array(
      fc.record({
        content: fc.constant("YQ=="),
        filename: name.map((text) => text.replace(/[/\\\u202a-\u202e\u2066-\u2069]/g, "")),
      }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);

test("every accepted email can be composed with the right sender", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(newEmail, async (change) => {
      const dry = await app.world.api("POST", "/api/emails?dry_run=true", {
        token: app.token,
        body: { ...app.validEmail, ...change },
      });
      const { status, body, text } = await app.send(change);
      expect([200, 422], text).toContain(status);
      expect(dry.status, dry.text).toBe(status);
      if (status === 422) return;
      accepted += 1;
      const bytes = await app.captured(String(body.id));
      const read = await PostalMime.parse(bytes);
      expect(read.from?.address).toBe("ann@example.org");
      expect(read.headers.map(({ key }) => key)).not.toContain("bcc");
      expect((await app.show(String(body.id))).status).toBe("delivered");
    }),
    { numRuns: 120 },
  );
  expect(accepted).toBeGreaterThan(20);
});
