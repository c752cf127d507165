import fc from "fast-check";
import PostalMime from "postal-mime";
import { expect, test } from "vitest";
import { composeMessage, type Draft } from "#server/mail/mime/compose";
import { draft as simpleDraft } from "./drafts";

const draft = (more: Partial<Draft>): Draft =>
  simpleDraft({ html: '<p>See <img src="cid:logo"></p>', text: "See", ...more });

const png = {
  filename: "logo.png",
  contentType: "image/png",
  contentId: "logo",
  content: Buffer.from([137, 80, 78, 71]),
};
const pdf = {
  filename: "Rechnung für März 2030 – größer.pdf",
  contentType: "application/pdf",
  contentId: null,
  content: Buffer.alloc(5_000, 7),
};

test("inline files are related to the HTML, and other files are attached to the message", async () => {
  const bytes = composeMessage(draft({ files: [png, pdf] }));
  const text = Buffer.from(bytes).toString("latin1");
  const order = [
    "multipart/mixed",
    "multipart/alternative",
    "text/plain",
    "multipart/related",
    "text/html",
    "image/png",
    "application/pdf",
  ];
  const places = order.map((type) => text.indexOf(`Content-Type: ${type}`));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(Math.min(...places)).toBeGreaterThan(0);
  const read = await PostalMime.parse(bytes);
  expect(read.html).toContain('src="cid:logo"');
  expect(
    read.attachments.map(({ filename, mimeType, disposition }) => ({ filename, mimeType, disposition })),
  ).toEqual([
    { filename: "logo.png", mimeType: "image/png", disposition: "inline" },
    { filename: pdf.filename, mimeType: "application/pdf", disposition: "attachment" },
  ]);
  expect(read.attachments[0]?.contentId).toBe("<logo>");
  expect(Buffer.from(read.attachments[1]?.content as ArrayBuffer).equals(pdf.content)).toBe(true);
});

test("any name and content can be parsed back, and all lines are ASCII of at most 998 octets", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .oneof(
          fc.string({ unit: "grapheme", minLength: 1, maxLength: 120 }),
          fc.string({
            unit: fc.constantFrom("=?", "?=", "=", "?", "utf-8?q?", "=0D=0A", "_", "a", "é", " "),
            minLength: 1,
            maxLength: 60,
          }),
        )
        .filter((name) => !/[\p{Cc}\p{Cs}]/u.test(name) && name.trim() === name),
      fc.uint8Array({ maxLength: 500 }),
      async (filename, content) => {
        const file = { filename, contentType: "application/octet-stream", contentId: null, content };
        const bytes = Buffer.from(composeMessage(draft({ files: [file] })));
        expect(bytes.every((byte) => byte < 128)).toBe(true);
        expect(
          Math.max(
            ...bytes
              .toString("latin1")
              .split("\r\n")
              .map(({ length }) => length),
          ),
        ).toBeLessThanOrEqual(78);
        const [read] = (await PostalMime.parse(bytes)).attachments;
        expect(read?.filename).toBe(filename);
        expect(Buffer.from(read?.content as ArrayBuffer).equals(Buffer.from(content))).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});
