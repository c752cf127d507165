import { beforeAll, describe, expect, test } from "vitest";
import { rejected } from "../support/rejected";
import { callApi, startRest } from "../support/rest";
import { openTestApp } from "./test-app";

const app = await openTestApp();

describe("an email is accepted", () => {
  test("and every field is returned as it was sent", async () => {
    const fields = {
      to: ["ben@example.net", "Cleo <cleo@example.net>"],
      cc: ["dora@example.net"],
      bcc: ["eve@example.net"],
      reply_to: ["Office <office@example.org>"],
      text: "Hello",
      headers: { "X-Entity-Ref-ID": "42" },
      tags: [{ name: "kind", value: "welcome" }],
    };
    const id = await app.accepted({ ...fields, cc: "dora@example.net", reply_to: fields.reply_to[0] });
    expect(await app.show(id)).toMatchObject({
      ...app.validEmail,
      ...fields,
      object: "email",
      id,
      message_id: `<${id}@example.org>`,
      last_event: "queued",
      status: "queued",
      scheduled_at: null,
      api_key_id: app.keyId,
      api_key_name: "Test key",
      template_id: null,
      events: [{ type: "email.queued", recipient: null, data: {} }],
    });
  });

  test("once per address, even if the address is in several fields and spellings", async () => {
    const id = await app.accepted({
      to: ["ben@example.net", "Ben@EXAMPLE.net"],
      cc: "Ben <BEN@example.net>",
    });
    expect((await app.show(id)).recipients).toMatchObject([{ address: "ben@example.net", kind: "to" }]);
  });

  test("with an @ in the display name: only the address counts", async () => {
    const id = await app.accepted({ from: "evil@example.com <ann@example.org>" });
    expect((await app.show(id)).from).toBe("evil@example.com <ann@example.org>");
  });

  test("null and empty values count as absent", async () => {
    for (const nothing of [null, "", []])
      await app.accepted({
        cc: nothing,
        bcc: nothing,
        reply_to: nothing,
        headers: nothing,
        tags: nothing,
        template: nothing,
        attachments: nothing,
        scheduled_at: nothing,
        topic_id: nothing,
      });
    await app.accepted({ text: null, headers: {} });
  });

  test("and an empty text is stored, because it requests no text part", async () => {
    expect((await app.show(await app.accepted({ text: "" }))).text).toBe("");
    expect((await app.show(await app.accepted())).text).toBeNull();
  });

  test("with text and no HTML", async () => {
    expect(await app.show(await app.accepted({ html: undefined, text: "Hello" }))).toMatchObject({
      html: null,
      text: "Hello",
    });
  });
});

describe("a sender", () => {
  test("is of a domain in any letter case and in Unicode", async () => {
    await app.world.domain("xn--bcher-kva.example");
    await app.accepted({ from: "ann@EXAMPLE.org" });
    expect((await app.show(await app.accepted({ from: "ann@bücher.example" }))).from).toBe(
      "ann@xn--bcher-kva.example",
    );
  });

  test("of a domain that is not verified is 422 with instructions to verify it", async () => {
    await app.world.domain("new.example.org", { verified: false });
    expect(await app.send({ from: "ann@new.example.org" })).toMatchObject(
      rejected(422, /new\.example\.org is not verified yet/),
    );
  });

  test("of the built-in domain can send only to that domain, unless email is captured", async () => {
    await app.accepted({ from: "ann@backstamp.test" });
    const relay = await startRest({ ...app.world.deps, transportKind: "relay" });
    const send = (to: unknown) => {
      const body = { ...app.validEmail, from: "ann@backstamp.test", to };
      return callApi(relay.baseUrl, "POST", "/api/emails", { token: app.token, body });
    };
    expect((await send("delivered@backstamp.test")).status).toBe(200);
    const { status, body } = await send(["delivered@backstamp.test", "ben@example.net"]);
    await relay.close();
    expect(status).toBe(422);
    expect(body.message).toMatch(/ben@example\.net.*your own domain/);
  });
});

describe("an email is rejected with a message that names the field", () => {
  const long = "x".repeat(2_001);
  const table: [what: string, change: object, message: RegExp, name?: string][] = [
    ["no recipient", { to: [] }, /`to`/, "missing_required_field"],
    ["no body", { html: null }, /`html`/, "missing_required_field"],
    ["two recipients in one string", { to: "a@example.net, b@example.net" }, /`to`.*array/],
    ["one invalid recipient among valid ones", { to: ["a@example.net", "b"] }, /`to\[1\]`/],
    [
      "too many recipients",
      { to: Array.from({ length: 51 }, (_, n) => `a${n}@example.net`) },
      /`to`.*At most 50/,
    ],
    ["a subject with two lines", { subject: "a\r\nBcc: x@example.com" }, /`subject`.*one line/],
    ["a subject too long", { subject: long }, /`subject`.*2000/],
    ["an unknown field", { form: "x" }, /Unknown field `form`\. Known: from, to/],
    ["an unknown nested field", { tags: [{ name: "a", value: "b", x: 1 }] }, /`tags\[0\].x`/],
    ["a header that Backstamp writes", { headers: { From: "x@example.com" } }, /`headers`.*From/],
    ["a duplicate header", { headers: { "X-A": "1", "x-a": "2" } }, /`headers`.*more than once/],
    ["HTML beside a template", { template: { id: "x" } }, /`html`.*`template`/],
    ["a template without id", { html: undefined, template: {} }, /`template.id`/, "missing_required_field"],
    [
      "an unknown template",
      { html: undefined, template: { id: "none" } },
      /`template\.id`.*no template none/,
      "not_found",
    ],
  ];
  let before: Record<string, number>;
  beforeAll(async () => {
    before = await app.world.rowCounts();
  });

  test.each(table)("%s", async (_, change, message, name = "validation_error") => {
    const status = name === "not_found" ? 404 : 422;
    const { status: got, body } = await app.send(change);
    expect({ got, name: body.name }).toEqual({ got: status, name });
    expect(body.message).toMatch(message);
    expect(body).toMatchObject({ error: body.message, statusCode: status });
  });

  test("and none of them is stored", async () => {
    expect(await app.world.rowCounts()).toEqual(before);
  });
});
