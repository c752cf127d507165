import fc from "fast-check";
import PostalMime from "postal-mime";
import { beforeAll, describe, expect, test } from "vitest";
import { createDkimKeyPair, formatDkimRecord, parsePrivateKey } from "#server/mail/dkim/key";
import { type SigningKey, signMessage } from "#server/mail/dkim/sign";
import { composeMessage, type Draft } from "#server/mail/mime/compose";
import { hasDkimVerifier, verifyDkim } from "../../support/dkim-verifier";
import { mailbox } from "../drafts";

const hasVerifier = hasDkimVerifier();
if (!hasVerifier)
  process.stdout.write(
    "NOT RUN: python3-dkim is not on this machine; its judgement on our signatures is left out.\n",
  );

const draft = (more: Partial<Draft> = {}): Draft => ({
  from: mailbox("Änn <ann@example.org>"),
  to: [mailbox("ben@example.net"), mailbox('"Cy, of Sales" <cy@example.net>')],
  cc: [mailbox("dee@example.net")],
  replyTo: [mailbox("answers@example.org")],
  subject: "Grüße an alle, die mit einer langen Zeile im Betreff umgehen können, und an die anderen auch",
  html: "<p>Hello  you,</p>\n\n<p>one &amp; two. </p>\n.\nFrom here\n\n",
  text: "Hello you,\n\none & two.\n\n.\nFrom here",
  headers: [
    ["List-Unsubscribe", "<https://mail.example.com/api/unsubscribe/abc>"],
    ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
    ["List-Id", "News <news.example.org>"],
    ["List-Help", "<https://example.org/help>"],
    ["List-Subscribe", "<https://example.org/subscribe>"],
    ["List-Post", "NO"],
    ["List-Owner", "<mailto:owner@example.org>"],
    ["List-Archive", "<https://example.org/archive>"],
    ["In-Reply-To", "<one@example.org>"],
    ["References", "<one@example.org> <two@example.org>"],
    ["Feedback-ID", "a:b:c:backstamp"],
    ["X-Own", "not covered"],
  ],
  messageId: "<one@example.org>",
  date: new Date(1_700_000_000_000),
  boundarySeed: "seed",
  ...more,
});

const signedAt = new Date(1_700_000_000_000);
const zone: Record<string, string> = {};
let keys: SigningKey[];
beforeAll(async () => {
  keys = await Promise.all(
    (["rsa", "ed25519"] as const).map(async (algorithm) => {
      const { privateKey, publicKey } = await createDkimKeyPair(algorithm);
      const selector = `key-${algorithm}`;
      zone[`${selector}._domainkey.example.org`] = formatDkimRecord(algorithm, publicKey);
      return {
        algorithm,
        domain: "example.org",
        selector,
        privateKey: parsePrivateKey(privateKey, algorithm),
      };
    }),
  );
});

const signedText = async (more: Partial<Draft> = {}) =>
  Buffer.from(await signMessage(composeMessage(draft(more)), keys, signedAt)).toString("latin1");

test("the signatures are at the top, RSA first, and the message below them is unchanged", async () => {
  const plain = Buffer.from(composeMessage(draft())).toString("latin1");
  const signed = await signedText();
  expect(signed.endsWith(plain)).toBe(true);
  const added = signed.slice(0, -plain.length);
  expect(added.match(/^DKIM-Signature: v=1; a=(\w+)-sha256; c=relaxed\/relaxed; t=1700000000;/gm)).toEqual([
    "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; t=1700000000;",
    "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed; t=1700000000;",
  ]);
  expect(added).not.toMatch(/\bl=/);
  expect(Math.max(...added.split("\r\n").map(({ length }) => length))).toBeLessThanOrEqual(78);
  expect(signed.match(/^from:.*$/gim)).toEqual([expect.stringMatching(/^From: [^<,]*<ann@example\.org>$/)]);
});

test("the same message, keys and time give the same bytes", async () => {
  expect(await signedText()).toBe(await signedText());
});

test("without a key the message is unchanged", async () => {
  const bytes = composeMessage(draft());
  expect(await signMessage(bytes, [], signedAt)).toBe(bytes);
});

test("a signed message is parsed like the unsigned one", async () => {
  const read = await PostalMime.parse(Buffer.from(await signedText(), "latin1"));
  const plain = await PostalMime.parse(composeMessage(draft()));
  expect(read.headers.slice(2)).toEqual(plain.headers);
  expect({ ...read, headers: [], headerLines: [] }).toEqual({ ...plain, headers: [], headerLines: [] });
});

test("a key that does not match its algorithm is rejected", async () => {
  const { privateKey } = await createDkimKeyPair("ed25519");
  expect(() => parsePrivateKey(privateKey, "rsa")).toThrow(TypeError);
});

/** The header fields of a message from top to bottom, and the rest. */
function cut(message: string): { fields: string[]; rest: string } {
  const end = message.indexOf("\r\n\r\n");
  return { fields: message.slice(0, end).split(/\r\n(?![ \t])/), rest: message.slice(end) };
}
const nameOf = (field: string) => field.slice(0, field.indexOf(":")).toLowerCase();
const bytesOf = (text: string) => Buffer.from(text, "latin1");

/** The signature covers these fields; adding further ones is allowed. */
const OPEN_NAMES = [
  "list-id",
  "list-help",
  "list-subscribe",
  "list-post",
  "list-owner",
  "list-archive",
  "in-reply-to",
  "references",
  "feedback-id",
];

describe.runIf(hasVerifier)("an independent verifier", { timeout: 120_000 }, () => {
  test("accepts both signatures, whatever the email contains", async () => {
    const text = fc
      .string({ unit: "grapheme", maxLength: 60 })
      .filter((value) => !/[\p{Cc}\p{Cs}]/u.test(value));
    const body = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r\n", "a", ".", "é", "<b>", "=") });
    const drafts = fc.sample(fc.record({ subject: text, html: body, text: body }), 60);
    const messages = await Promise.all(
      drafts.map(async ({ subject, html, text: plain }) =>
        bytesOf(await signedText({ subject, html, text: plain })),
      ),
    );
    const heard = await verifyDkim(messages, zone);
    expect(heard).toEqual(messages.map(() => [true, true]));
  });

  test("accepts them for email with attachments and with international addresses", async () => {
    const files = [
      {
        filename: "größer.pdf",
        contentType: "application/pdf",
        contentId: null,
        content: Buffer.alloc(500, 7),
      },
    ];
    const messages = [
      bytesOf(await signedText({ files })),
      bytesOf(await signedText({ to: [mailbox("jörg@müller.example")] })),
      bytesOf(await signedText({ cc: [], replyTo: [], headers: [], text: "", html: "x" })),
    ];
    expect(await verifyDkim(messages, zone)).toEqual(messages.map(() => [true, true]));
  });

  test.each([
    ["several parts", {}],
    ["one part", { text: "" }],
  ])("rejects a message if a covered field is changed, removed or added again: %s", async (_, more) => {
    const { fields, rest } = cut(await signedText(more));
    const own = fields.filter((field) => nameOf(field) !== "dkim-signature");
    const covered = own.filter((field) => nameOf(field) !== "x-own");
    const forgeries: string[] = [];
    const what: string[] = [];
    const forge = (name: string, changed: string[]) => {
      what.push(name);
      forgeries.push(changed.join("\r\n") + rest);
    };
    for (const field of covered) {
      const at = fields.indexOf(field);
      const changed = `${field}x`;
      forge(`${nameOf(field)} changed`, fields.with(at, changed));
      forge(`${nameOf(field)} gone`, fields.toSpliced(at, 1));
      forge(`${nameOf(field)} again above`, [changed, ...fields]);
      forge(`${nameOf(field)} again below`, [...fields, changed]);
    }
    // These fields are absent; clients would use an added one.
    const bare = cut(await signedText({ headers: [], cc: [], replyTo: [], ...more }));
    for (const added of [
      "Cc: x@example.com",
      "Reply-To: x@example.com",
      "List-Unsubscribe: <https://x.example>",
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
      "Content-Transfer-Encoding: base64",
    ])
      forge(`${added} added`, [...bare.fields, added]);
    const heard = await verifyDkim(forgeries.map(bytesOf), zone);
    const accepted = what.filter((_, index) => heard[index]?.some(Boolean));
    // Lists and forwarders may add such fields; the signature still covers the original, the lowest of that
    // name.
    expect(accepted).toEqual(OPEN_NAMES.map((name) => `${name} again above`).sort(byPlace(covered)));
  });

  test("rejects another body, another key, and a changed signature", async () => {
    const message = await signedText();
    const { fields, rest } = cut(message);
    const forgeries = [
      fields.join("\r\n") + rest.replace("Hello", "Hullo"),
      `${message}more\r\n`,
      message.replaceAll("t=1700000000", "t=1700000001"),
      message.replaceAll("d=example.org", "d=example.com"),
    ];
    expect(await verifyDkim(forgeries.map(bytesOf), zone)).toEqual(forgeries.map(() => [false, false]));
    expect(await verifyDkim([bytesOf(message)], {})).toEqual([[false, false]]);
  });
});

const byPlace = (fields: string[]) => (a: string, b: string) => {
  const placeOf = (text: string) => fields.findIndex((field) => text.startsWith(nameOf(field)));
  return placeOf(a) - placeOf(b);
};
