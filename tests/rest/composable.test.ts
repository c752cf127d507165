import PostalMime from "postal-mime";
import { describe, expect, test } from "vitest";
import { getSource } from "#server/services/emails/read/source";
import { rejected } from "../support/rejected";
import { openTestApp } from "./test-app";

const app = await openTestApp();

const LONG_NAMES: [what: string, name: string][] = [
  ["330 Cyrillic letters", "Ж".repeat(330)],
  ["180 emoji", "😀".repeat(180)],
  ["900 letters without a space", "a".repeat(900)],
];

describe("a display name that is too long once encoded", () => {
  test.each(LONG_NAMES)("is rejected with the name of its field: %s", async (_, name) => {
    const before = await app.world.rowCounts();
    const fields = name === LONG_NAMES[0]?.[1] ? ["from", "to", "cc", "bcc", "reply_to"] : ["to"];
    for (const field of fields) {
      const address = field === "from" ? "ann@example.org" : "ben@example.net";
      const body = { ...app.validEmail, [field]: `${name} <${address}>` };
      const replies = [
        await app.call("POST", "/api/emails", body),
        await app.call("POST", "/api/emails?dry_run=true", body),
        await app.call("POST", "/api/emails/batch", [body]),
      ];
      for (const { status, body: response } of replies) {
        expect(status).toBe(422);
        expect(response.error).toContain(`\`${field}\``);
        expect(response.error).toContain("Shorten the name");
      }
    }
    const template = { name: "Long", subject: "Hi", html: "<p>Hi</p>" };
    for (const field of ["from", "reply_to"]) {
      expect(
        await app.call("POST", "/api/templates", {
          ...template,
          [field]: `${name} <ann@example.org>`,
        }),
      ).toMatchObject(rejected(422, `\`${field}\``));
    }
    expect(await app.world.rowCounts()).toEqual(before);
  });

  test("is rejected in one of several recipients, with its index", async () => {
    const to = ["ben@example.net", `${"Ж".repeat(330)} <carl@example.net>`];
    expect(await app.send({ to })).toMatchObject(rejected(422, "`to[1]`"));
  });

  test("does not block an email that was accepted with such a name earlier", async () => {
    const id = await app.accepted();
    const name = "Ж".repeat(900);
    await app.world.hot`
      update emails set sender = ${`${name} <ann@example.org>`}, "to" = ${JSON.stringify([`${"ü".repeat(1200)} <ben@example.net>`])}::text::jsonb
      where id = ${id}`;
    const from = { name, address: "ann@example.org" };
    const source = await getSource(app.world.ctx, id);
    expect(source.kind).toBe("composed");
    expect((await PostalMime.parse(source.bytes)).from).toEqual(from);
    expect((await PostalMime.parse(await app.captured(id))).from).toEqual(from);
    expect((await getSource(app.world.ctx, id)).kind).toBe("captured");
    expect((await app.show(id)).status).toBe("delivered");
  });
});

describe("text that looks encoded", () => {
  const hidden = "=?utf-8?q?a=0D=0ABcc:_eve@example.com=0D=0A.pdf?=";

  test("in a file name is encoded again, so no parser decodes a line break from it", async () => {
    const id = await app.accepted({ attachments: [{ content: "YQ==", filename: hidden }] });
    const bytes = await app.captured(id);
    expect(bytes.toString("latin1")).not.toContain("=?utf-8?q?a=0D");
    const [file] = (await PostalMime.parse(bytes)).attachments;
    expect(file?.filename).toBe(hidden);
  });

  test("or contains a line break is rejected in a file type", async () => {
    const before = await app.world.rowCounts();
    for (const content_type of [
      `text/plain; name="${hidden}"`,
      "text/plain;\r\n\r\nname=a",
      "text/plain;\u00a0name=a",
    ]) {
      expect(
        await app.send({
          attachments: [{ content: "YQ==", filename: "a.txt", content_type }],
        }),
      ).toMatchObject(rejected(422, "content_type"));
    }
    expect(await app.world.rowCounts()).toEqual(before);
  });
});
