import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import type { Received } from "../support/servers/http-sink";
import type { Sdk } from "./clients";
import { data, describeClients, errorOf, errorWith, startTestServer } from "./test-server";

const testServer = await startTestServer();

/** Verifies a request with the client, with the received headers of one naming scheme. */
function verify(sdk: Sdk, request: Received | undefined, webhookSecret: string, family = "svix") {
  const header = (name: string) => String(request?.headers[`${family}-${name}`]);
  const headers = { id: header("id"), timestamp: header("timestamp"), signature: header("signature") };
  return sdk.webhooks.verify({ payload: request?.body ?? "", headers, webhookSecret });
}

describeClients(testServer, (client, account) => {
  test("an endpoint is created, read, listed, updated and removed", async () => {
    const { sdk } = account;
    const endpoint = "https://example.com/hooks";
    const { id, signing_secret } = await data(
      sdk.webhooks.create({ endpoint, events: ["email.sent", "contact.created", "domain.updated"] }),
    );
    expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(await data(sdk.webhooks.get(id))).toMatchObject({
      object: "webhook",
      id,
      endpoint,
      events: ["email.sent", "contact.created", "domain.updated"],
      status: "enabled",
      created_at: expect.stringMatching(/Z$/),
      signing_secret,
    });
    const list = await data(sdk.webhooks.list({ limit: 1 }));
    expect(list).toMatchObject({
      object: "list",
      has_more: false,
      data: [{ id, endpoint, status: "enabled" }],
    });
    expect(JSON.stringify(list)).not.toContain("whsec_");
    const change = { endpoint: "https://example.com/other", events: ["email.bounced" as const] };
    expect(await data(sdk.webhooks.update(id, { ...change, status: "disabled" }))).toEqual({
      object: "webhook",
      id,
    });
    expect(await data(sdk.webhooks.get(id))).toMatchObject({ ...change, status: "disabled" });
    expect(await data(sdk.webhooks.remove(id))).toEqual({ object: "webhook", id, deleted: true });
    expect(await errorOf(sdk.webhooks.get(id))).toEqual(errorWith(404, "not_found"));
  });

  test("a received event verifies with the client and with the reference library, with both sets of header names", async () => {
    const { sdk } = account;
    const sink = await testServer.world.sink();
    const { signing_secret: secret } = await data(
      sdk.webhooks.create({
        endpoint: `http://127.0.0.1:${sink.port}/resend`,
        events: ["email.delivered", "email.bounced"],
      }),
    );
    const send = async (to: string) =>
      data(
        sdk.emails.send({
          ...account.mail,
          from: "Ann <ann@backstamp.test>",
          to,
          tags: [{ name: "a", value: "b" }],
        }),
      );
    const delivered = await send("delivered@backstamp.test");
    const bounced = await send("bounced@backstamp.test");
    await testServer.world.sendDue();
    expect(sink.received).toHaveLength(2);
    const about = (id: string) => sink.received.find(({ body }) => body.includes(id));
    const request = about(delivered.id);
    const event = verify(sdk, request, secret);
    expect(event).toMatchObject({
      type: "email.delivered",
      created_at: expect.stringMatching(/Z$/),
      data: {
        email_id: delivered.id,
        created_at: expect.any(String),
        from: "Ann <ann@backstamp.test>",
        to: ["delivered@backstamp.test"],
        subject: "Hello",
        tags: { a: "b" },
      },
    });
    expect(verify(sdk, request, secret, "webhook")).toEqual(event);
    const headers = request?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(request?.body ?? "", headers)).toEqual(event);
    expect(verify(sdk, about(bounced.id), secret)).toMatchObject({
      type: "email.bounced",
      data: {
        email_id: bounced.id,
        bounce: {
          type: "Permanent",
          subType: expect.any(String),
          message: expect.any(String),
          diagnosticCode: [expect.stringContaining("550")],
        },
      },
    });
    const forged = request && { ...request, body: request.body.replace("Hello", "Hullo") };
    expect(() => verify(sdk, forged, secret)).toThrow();
    expect(() => verify(sdk, request, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).toThrow();
  });

  // The older client has no such calls.
  if (client.isNewest)
    test("the events of an endpoint are listed and replayed, and signed with both secrets after a rotation", async () => {
      const { sdk } = account;
      const sink = await testServer.world.sink();
      const { id, signing_secret: secret } = await data(
        sdk.webhooks.create({ endpoint: `http://127.0.0.1:${sink.port}/`, events: ["email.delivered"] }),
      );
      await data(
        sdk.emails.send({ ...account.mail, from: "ann@backstamp.test", to: "delivered@backstamp.test" }),
      );
      await testServer.world.sendDue();
      const event = verify(sdk, sink.received[0], secret);

      const events = await data(sdk.webhooks.events.list({ webhookId: id, limit: 10 }));
      expect(events.data).toMatchObject([{ type: "email.delivered", status: "success" }]);
      const eventId = events.data[0]?.id ?? "";
      expect(await data(sdk.webhooks.events.get({ webhookId: id, eventId }))).toMatchObject({
        object: "webhook_event",
        id: eventId,
        next_attempt_at: null,
        payload: event,
      });
      const attempts = await data(sdk.webhooks.events.attempts.list({ webhookId: id, eventId }));
      expect(attempts.data).toMatchObject([
        { http_status_code: 200, response: "", sent_at: expect.any(String) },
      ]);

      const { signing_secret: next } = await data(sdk.webhooks.rotateSigningSecret(id));
      expect(next).not.toBe(secret);
      expect(await data(sdk.webhooks.events.replay({ webhookId: id, eventId }))).toEqual({
        object: "webhook_event",
        id: eventId,
      });
      await testServer.world.sendDue();
      const [first, again] = sink.received;
      expect(again?.headers["svix-id"]).toBe(first?.headers["svix-id"]);
      for (const live of [secret, next]) expect(verify(sdk, again, live)).toEqual(event);
    });
});
