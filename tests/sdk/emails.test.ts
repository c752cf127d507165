import { randomUUID } from "node:crypto";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import { CLIENTS } from "./clients";
import { data, describeClients, errorOf, errorWith, startTestServer } from "./test-server";

const testServer = await startTestServer();

describeClients(testServer, (client, account) => {
  test("an email with only HTML is sent with a generated text part, and can be read back", async () => {
    const { sdk, mail } = account;
    const sent = await data(sdk.emails.send({ ...mail, html: "<h1>Hi</h1><p>Ben</p>" }));
    expect(sent).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const sentMessage = await testServer.sentMessage(sent.id);
    expect(sentMessage).toMatchObject({
      subject: "Hello",
      from: { address: `ann@${account.domain}`, name: "Ann" },
    });
    expect(sentMessage.html).toContain("<h1>Hi</h1>");
    expect(sentMessage.text).toMatch(/hi\s+Ben/i);
    expect(await data(sdk.emails.get(sent.id))).toMatchObject({
      object: "email",
      id: sent.id,
      message_id: expect.stringMatching(/^<.+@.+>$/),
      from: mail.from,
      to: [mail.to],
      cc: [],
      bcc: [],
      reply_to: [],
      subject: "Hello",
      html: "<h1>Hi</h1><p>Ben</p>",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      scheduled_at: null,
      last_event: "delivered",
    });
  });

  // The server does not distinguish versions: forms of content are sent with one of them.
  const testNewest = client.isNewest ? test : () => {};

  testNewest(
    "an email with only text is sent without HTML; an empty text requests no text part",
    async () => {
      const { sdk, mail } = account;
      const { html, ...rest } = mail;
      const plain = await data(sdk.emails.send({ ...rest, text: "Only this" }));
      expect((await testServer.sentMessage(plain.id)).html).toBeUndefined();
      expect((await testServer.sentMessage(plain.id)).text?.trim()).toBe("Only this");
      const bare = await data(sdk.emails.create({ ...mail, text: "" }));
      expect((await testServer.sentMessage(bare.id)).text).toBeUndefined();
    },
  );

  testNewest("a React element is rendered by the client and arrives as HTML", async () => {
    const { html, ...rest } = account.mail;
    const react = createElement(
      "div",
      { style: { color: "red" } },
      "Grüße, ",
      createElement("b", null, "Ben"),
    );
    const { id } = await data(account.sdk.emails.send({ ...rest, react }));
    const sentMessage = await testServer.sentMessage(id);
    expect(sentMessage.html).toMatch(/<div style="color:red">Grüße, .*<b>Ben<\/b>/);
    expect(sentMessage.text).toContain("Grüße, Ben");
  });

  test("all other fields are in the sent email", async () => {
    const { sdk, mail, domain } = account;
    const { id } = await data(
      sdk.emails.send({
        ...mail,
        to: ["ben@example.net", "Cleo <cleo@example.net>"],
        cc: "dora@example.net",
        bcc: ["eve@example.net"],
        replyTo: ["help@example.net", "Fay <fay@example.net>"],
        headers: { "X-Entity-Ref-ID": "123" },
        tags: [{ name: "kind", value: "welcome" }],
      }),
    );
    const sentMessage = await testServer.sentMessage(id);
    expect(sentMessage.to?.map(({ address }) => address)).toEqual(["ben@example.net", "cleo@example.net"]);
    expect(sentMessage.cc?.map(({ address }) => address)).toEqual(["dora@example.net"]);
    expect(sentMessage.bcc).toBeUndefined();
    expect(sentMessage.replyTo?.map(({ address }) => address)).toEqual([
      "help@example.net",
      "fay@example.net",
    ]);
    expect(sentMessage.headers).toContainEqual(
      expect.objectContaining({ key: "x-entity-ref-id", value: "123" }),
    );
    expect(await data(sdk.emails.get(id))).toMatchObject({
      from: `Ann <ann@${domain}>`,
      to: ["ben@example.net", "Cleo <cleo@example.net>"],
      cc: ["dora@example.net"],
      bcc: ["eve@example.net"],
      reply_to: ["help@example.net", "Fay <fay@example.net>"],
      tags: [{ name: "kind", value: "welcome" }],
    });
  });

  testNewest("a repeat with the same idempotency key returns the same email", async () => {
    const { sdk, mail } = account;
    const idempotencyKey = randomUUID();
    const first = await data(sdk.emails.send(mail, { idempotencyKey }));
    const again = await sdk.emails.send(mail, { idempotencyKey });
    expect(again).toMatchObject({ data: first, headers: { "idempotent-replayed": "true" } });
    expect(await errorOf(sdk.emails.send({ ...mail, subject: "Other" }, { idempotencyKey }))).toEqual(
      errorWith(409, "invalid_idempotent_request"),
    );
  });

  testNewest("request headers reach the API, and response headers the caller", async () => {
    const { headers } = await account.sdk.emails.send(account.mail, {
      headers: { "X-Request-Id": "my-own-request" },
    });
    expect(headers).toMatchObject({
      "x-request-id": "my-own-request",
      "x-ratelimit-limit": expect.stringMatching(/^\d+$/),
      "x-ratelimit-remaining": expect.stringMatching(/^\d+$/),
      "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/),
    });
  });

  describe("batch", () => {
    test("strict: all are accepted in order, with different fields", async () => {
      const { sdk, mail } = account;
      const { html, ...rest } = mail;
      const { data: ids } = await data(
        sdk.batch.send([
          { ...mail, subject: "First", tags: [{ name: "a", value: "b" }] },
          { ...rest, subject: "Second", react: createElement("i", null, "Slanted") },
          { ...mail, subject: "Third", scheduledAt: "in 1 hour" },
        ]),
      );
      const emails = await Promise.all(ids.map(({ id }) => data(sdk.emails.get(id))));
      expect(emails.map(({ subject, last_event }) => [subject, last_event])).toEqual([
        ["First", "queued"],
        ["Second", "queued"],
        ["Third", "scheduled"],
      ]);
      expect(emails[1]?.html).toContain("<i>Slanted</i>");
    });

    test("permissive: valid emails are accepted, and the errors of the others contain their index", async () => {
      const { sdk, mail } = account;
      const batchValidation = "permissive";
      const answer = await data(
        sdk.batch.send([{ ...mail, to: "no address" }, mail, { ...mail, from: "ann@elsewhere.example" }], {
          batchValidation,
        }),
      );
      expect(answer.data).toEqual([{ id: expect.any(String) }]);
      expect(answer.errors).toEqual([
        { index: 0, message: expect.stringContaining("`to`") },
        {
          index: 2,
          message: expect.stringMatching(/^Insufficient API key permissions: .*elsewhere\.example/),
        },
      ]);
      expect((await data(sdk.batch.send([mail], { batchValidation }))).errors).toEqual([]);
    });
  });

  test("the list is sorted newest first and supports both cursors", async () => {
    const { sdk, mail } = await testServer.account(client);
    const ids: string[] = [];
    for (const subject of ["1", "2", "3"])
      ids.unshift((await data(sdk.emails.send({ ...mail, subject }))).id);
    const page = async (options: Parameters<typeof sdk.emails.list>[0]) => {
      const list = await data(sdk.emails.list(options));
      expect(list.object).toBe("list");
      return { ids: list.data.map(({ id }) => id), more: list.has_more };
    };
    expect(await page({})).toEqual({ ids, more: false });
    expect(await page({ limit: 1, after: ids[0] ?? "" })).toEqual({ ids: ids.slice(1, 2), more: true });
    expect(await page({ limit: 1, before: ids[1] ?? "" })).toEqual({ ids: ids.slice(0, 1), more: false });
    const [first] = (await data(sdk.emails.list({ limit: 1 }))).data;
    expect(first).toMatchObject({
      from: mail.from,
      to: [mail.to],
      subject: "3",
      last_event: "queued",
      cc: [],
      bcc: [],
      reply_to: [],
      scheduled_at: null,
    });
    expect(first).not.toHaveProperty("html");
  });

  test("a scheduled email is rescheduled and canceled", async () => {
    const { sdk, mail } = account;
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = await data(sdk.emails.send({ ...mail, scheduledAt: at }));
    expect(await data(sdk.emails.get(id))).toMatchObject({ scheduled_at: at, last_event: "scheduled" });
    const later = new Date(Date.now() + 7_200_000).toISOString();
    expect(await data(sdk.emails.update({ id, scheduledAt: later }))).toEqual({ object: "email", id });
    expect(await data(sdk.emails.get(id))).toMatchObject({ scheduled_at: later });
    expect(await data(sdk.emails.cancel(id))).toEqual({ object: "email", id });
    expect(await data(sdk.emails.get(id))).toMatchObject({ last_event: "canceled" });
  });
});

describe.each(CLIENTS.filter(({ isAtRoot, isNewest }) => isAtRoot && isNewest))("$name", (client) => {
  test("calls of each HTTP method have the same results as below /api", async () => {
    const { sdk, mail } = await testServer.account(client);
    const { id } = await data(sdk.emails.send({ ...mail, scheduledAt: "in 1 hour" }));
    expect(await data(sdk.emails.update({ id, scheduledAt: "in 2 hours" }))).toEqual({ object: "email", id });
    expect((await data(sdk.emails.get(id))).last_event).toBe("scheduled");
    expect((await data(sdk.emails.list({ limit: 1 }))).data).toMatchObject([{ id }]);
    const { id: templateId } = await data(sdk.templates.create({ name: "Root", html: "<p>Hi</p>" }));
    expect((await data(sdk.templates.remove(templateId))).deleted).toBe(true);
    expect(await errorOf(sdk.templates.get(templateId))).toEqual(errorWith(404, "not_found"));
  });
});
