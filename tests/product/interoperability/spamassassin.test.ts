import nodemailer from "nodemailer";
import { beforeAll, describe, expect, test } from "vitest";
import { createDkimKeyPair, parsePrivateKey } from "#server/mail/dkim/key";
import { type SigningKey, signMessage } from "#server/mail/dkim/sign";
import { type MessageSource, outgoingMessage } from "#server/services/emails/outgoing";
import { textOf } from "../../mail/drafts";
import { renderNewsletters } from "../../mail/newsletters";
import { rulesHit, spamAssassinMissing } from "../../support/processes/spamassassin";

if (spamAssassinMissing !== null)
  process.stdout.write(`NOT RUN: ${spamAssassinMissing}; the score of our mail is not compared.\n`);

type Content = Pick<MessageSource, "subject" | "html" | "text" | "files">;

const receipt: Content = {
  subject: "Your receipt 2026-1107",
  html: "<html><body><h1>Thank you</h1><p>Your card was charged <b>12.50 EUR</b>.</p><a href='https://shop.example.com/receipts/1107'>See the receipt</a></body></html>",
  text: "Thank you. Your card was charged 12.50 EUR.\nhttps://shop.example.com/receipts/1107\n",
  files: [],
};
const CONTENTS: Record<string, Content> = {
  "a receipt": receipt,
  "a receipt with files": {
    ...receipt,
    html: `${receipt.html}<img src="cid:logo" alt="The shop">`,
    files: [
      {
        filename: "Rechnung März.pdf",
        contentType: "application/pdf",
        contentId: null,
        content: Buffer.from("%PDF-1.7\n".padEnd(3_000, "x")),
      },
      {
        filename: "logo.png",
        contentType: "image/png",
        contentId: "logo",
        content: Buffer.from("89504e470d0a1a0a", "hex"),
      },
    ],
  },
  "a receipt whose text is made from the html": {
    ...receipt,
    text: await textOf({ ...receipt, text: null }),
  },
  "a receipt without a text": { ...receipt, text: "" },
  "a code to sign in with, as text alone": {
    subject: "482913 is your code",
    html: null,
    text: "Hello Ben,\n\n482913 is your code.\n.\nFrom your shop\n",
    files: [],
  },
};

const FROM = "The Shop <shop@shop.example>";
const TO = "Ben <ben@example.net>";
const DATE = new Date("2026-11-20T09:30:00Z");

const ALGORITHMS = ["rsa", "ed25519"] as const;
let keys: SigningKey[];
let rsaPem: string;
beforeAll(async () => {
  const pairs = await Promise.all(ALGORITHMS.map(createDkimKeyPair));
  keys = ALGORITHMS.map((algorithm, nth) => ({
    algorithm,
    domain: "shop.example",
    selector: algorithm,
    privateKey: parsePrivateKey(pairs[nth]?.privateKey ?? "", algorithm),
  }));
  rsaPem = String(keys[0]?.privateKey.export({ type: "pkcs8", format: "pem" }));
});

/** Sent like a worker does: with the unsubscribe link and signed with both keys. */
async function ours(content: Content, nth: number): Promise<Uint8Array> {
  const source: MessageSource = {
    id: `0198c1f2-7a34-7c5e-9b0d-${String(nth).padStart(12, "0")}`,
    teamId: "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e",
    listUnsubscribe: true,
    sender: FROM,
    senderAddress: "shop@shop.example",
    senderDomain: "shop.example",
    to: [TO],
    cc: [],
    replyTo: [],
    headers: [],
    messageId: `0198c1f2-7a34-7c5e-9b0d-${String(nth).padStart(12, "0")}@shop.example`,
    createdAt: DATE,
    ...content,
  };
  const unsubscribeLink = `https://mail.example.com/api/unsubscribe/${"aZ3_".repeat(24)}`;
  const { bytes } = outgoingMessage(source, { unsubscribeLink });
  return signMessage(bytes, keys, DATE);
}

/** Sent by nodemailer with its defaults, signed with its one RSA key. */
async function theirs({ subject, html, text, files }: Content): Promise<Uint8Array> {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  const { message } = await transport.sendMail({
    dkim: { domainName: "shop.example", keySelector: "rsa", privateKey: rsaPem },
    from: FROM,
    to: TO,
    date: DATE,
    subject,
    html: html ?? undefined,
    text: text || undefined,
    attachments: files.map(({ filename, contentType, contentId, content }) => ({
      filename: filename ?? undefined,
      contentType,
      cid: contentId ?? undefined,
      content: Buffer.from(content),
    })),
  });
  if (!Buffer.isBuffer(message)) throw new Error("nodemailer gave no bytes");
  return message;
}

const KNOWN_SPAM = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X";

describe.runIf(spamAssassinMissing === null)("SpamAssassin", () => {
  test("matches no rule in our email that nodemailer's email with the same content does not match", {
    timeout: 240_000,
  }, async () => {
    const newsletters = await Promise.all(
      (await renderNewsletters()).map(
        async ({ title, subject, html, text }): Promise<[string, Content]> => [
          title,
          { subject, html, text: await textOf({ html, text }), files: [] },
        ],
      ),
    );
    const contents = [...Object.entries(CONTENTS), ...newsletters];
    const own = await Promise.all(contents.map(([, content], nth) => ours(content, nth)));
    const plain = await Promise.all(contents.map(([, content]) => theirs(content)));
    const spam = await ours({ ...receipt, html: null, text: `${KNOWN_SPAM}\n` }, contents.length);
    const rules = await rulesHit([spam, ...own, ...plain]);
    expect(rules.shift()).toContain("GTUBE");
    const onlyOurs = contents.map(([title], nth) => {
      const known = new Set(rules[contents.length + nth]);
      return [title, rules[nth]?.filter((rule) => !known.has(rule))];
    });
    expect(Object.fromEntries(onlyOurs)).toEqual(Object.fromEntries(contents.map(([title]) => [title, []])));
  });
});
