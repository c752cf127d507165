import { Resend } from "resend";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createWebhookWorld, type WebhookWorld } from "../support/webhook-world";

let world: WebhookWorld;
let resend: Resend;
beforeEach(async () => {
  world = await createWebhookWorld();
  resend = new Resend(world.token, { baseUrl: `${world.baseUrl}/api` });
});
afterEach(async () => {
  await world.close();
});

/** What the SDK's calls answer where they succeed. */
async function data<T>(calling: Promise<{ data: T | null; error: unknown }>): Promise<T> {
  const { data, error } = await calling;
  if (data === null) throw new Error(JSON.stringify(error));
  return data;
}

test("the official SDK manages endpoints, reads what they were told, and verifies it", async () => {
  const sink = await world.sink();
  const endpoint = `http://127.0.0.1:${sink.port}/resend`;
  const { id, signing_secret: secret } = await data(
    resend.webhooks.create({ endpoint, events: ["email.sent", "email.delivered"] }),
  );
  expect(await data(resend.webhooks.get(id))).toMatchObject({
    id,
    endpoint,
    status: "enabled",
    signing_secret: secret,
  });
  const list = await data(resend.webhooks.list({ limit: 10 }));
  expect(list).toMatchObject({ object: "list", has_more: false, data: [{ id, endpoint }] });
  expect(await data(resend.webhooks.update(id, { events: ["email.delivered"] }))).toEqual({
    object: "webhook",
    id,
  });

  const sent = await data(
    resend.emails.send({
      from: "Ann <ann@posthorn.test>",
      to: "delivered@posthorn.test",
      subject: "Hello",
      html: "<p>Hi</p>",
    }),
  );
  await world.round();
  expect(sink.received).toHaveLength(1);
  const [request] = sink.received;
  const event = resend.webhooks.verify({
    payload: request?.body ?? "",
    headers: {
      id: String(request?.headers["svix-id"]),
      timestamp: String(request?.headers["svix-timestamp"]),
      signature: String(request?.headers["svix-signature"]),
    },
    webhookSecret: secret,
  });
  expect(event).toMatchObject({ type: "email.delivered", data: { email_id: sent.id } });

  const events = await data(resend.webhooks.events.list({ webhookId: id }));
  expect(events.data).toMatchObject([{ type: "email.delivered", status: "success" }]);
  const eventId = events.data[0]?.id ?? "";
  expect(await data(resend.webhooks.events.get({ webhookId: id, eventId }))).toMatchObject({
    object: "webhook_event",
    id: eventId,
    next_attempt_at: null,
    payload: event,
  });
  const attempts = await data(resend.webhooks.events.attempts.list({ webhookId: id, eventId }));
  expect(attempts.data).toMatchObject([{ http_status_code: 200, response: "", sent_at: expect.any(String) }]);
  expect(await data(resend.webhooks.events.replay({ webhookId: id, eventId }))).toEqual({
    object: "webhook_event",
    id: eventId,
  });
  await world.round();
  expect(sink.received).toHaveLength(2);

  const rotated = await data(resend.webhooks.rotateSigningSecret(id));
  expect(rotated.signing_secret).not.toBe(secret);
  expect(await data(resend.webhooks.update(id, { status: "disabled" }))).toEqual({ object: "webhook", id });
  expect(await data(resend.webhooks.remove(id))).toEqual({ object: "webhook", id, deleted: true });
  const { error } = await resend.webhooks.get(id);
  expect(error).toMatchObject({ statusCode: 404, name: "not_found" });
});
