import { readFileSync } from "node:fs";
import path from "node:path";
import { Resend } from "resend";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { forEachTest } from "../../support/fixtures";
import { projectRoot } from "../../support/processes/processes";
import { sendDueEvents } from "../../support/pump-engine";
import type { HttpSink, Received } from "../../support/servers/http-sink";
import { createWebhookWorld } from "../../support/webhook-world";

const world = forEachTest(() => createWebhookWorld());

const ofType = (sink: HttpSink, type: string) =>
  sink.received.filter(({ body }) => JSON.parse(body).type === type);
const header = (request: Received | undefined, name: string) => String(request?.headers[name]);

/** The signature headers of a request, in either naming scheme. */
const signed = (request: Received | undefined, family: "svix" | "webhook") => ({
  id: header(request, `${family}-id`),
  timestamp: header(request, `${family}-timestamp`),
  signature: header(request, `${family}-signature`),
});

const emailFields = ["email_id", "created_at", "from", "to", "subject", "tags"];
/** The fields of `data` in the payloads of the Resend API. */
const RESEND_FIELDS: Record<string, string[]> = {
  email: emailFields,
  "email.bounced": [...emailFields, "bounce"],
  "email.clicked": [...emailFields, "click"],
  "email.failed": [...emailFields, "failed"],
  "email.suppressed": [...emailFields, "suppressed"],
  domain: ["id", "name", "status", "created_at", "region", "records"],
  suppression: ["id", "email", "origin", "source_id", "created_at"],
};

test("the events that the guide to Resend calls the same verify with its SDK, and have the fields of its payloads", async () => {
  const guide = readFileSync(path.join(projectRoot, "app/docs/guides/migrating-resend.md"), "utf8");
  const rows = [...guide.matchAll(/^\| (`.*`) \| the same names \|$/gm)].map(([, names = ""]) => names);
  const types = rows.flatMap((names) => names.match(/[a-z_]+\.[a-z_]+/g) ?? []);
  expect(types.length).toBeGreaterThan(10);
  const sink = await world.sink();
  const { id, secret } = await world.endpoint(sink, types);
  for (const type of types) await world.ok("POST", `/api/webhooks/${id}/test?type=${type}`);
  await world.sendDue();
  const { webhooks } = new Resend("re_unused");
  const verified = sink.received.map((request) => {
    const headers = signed(request, "svix");
    return webhooks.verify({ payload: request.body, headers, webhookSecret: secret });
  });
  expect(verified.map(({ type }) => type as string).sort()).toEqual([...types].sort());
  for (const { type, data } of verified) {
    const fields = RESEND_FIELDS[type] ?? RESEND_FIELDS[type.split(".")[0] ?? ""] ?? [];
    expect([type, Object.keys(data)]).toEqual([type, expect.arrayContaining(fields)]);
  }
});

test("a received event verifies with the Resend SDK and with the reference library", async () => {
  const sink = await world.sink();
  const { secret } = await world.endpoint(sink, ["email.delivered"]);
  const emailId = await world.sendByApi({
    subject: "Grüße €",
    tags: [{ name: "a", value: "b" }],
    headers: { "X-Ref": "7" },
  });
  await world.sendDue();
  expect(sink.received).toHaveLength(1);
  const [request] = sink.received;
  const event = new Resend("re_unused").webhooks.verify({
    payload: request?.body ?? "",
    headers: signed(request, "svix"),
    webhookSecret: secret,
  });
  expect(event).toMatchObject({
    type: "email.delivered",
    data: {
      email_id: emailId,
      from: "Ann <ann@backstamp.test>",
      to: ["delivered@backstamp.test"],
      subject: "Grüße €",
      tags: { a: "b" },
      headers: [{ name: "X-Ref", value: "7" }],
    },
  });
  expect(signed(request, "webhook")).toEqual(signed(request, "svix"));
  const reference = new Webhook(secret);
  const headers = { ...request?.headers } as Record<string, string>;
  expect(reference.verify(request?.body ?? "", headers)).toEqual(event);
  expect(() => reference.verify(`${request?.body} `, headers)).toThrow();
  expect(request).toMatchObject({ method: "POST", path: "/hooks" });
  expect(header(request, "content-type")).toBe("application/json");
});

test("an endpoint gets exactly its events, in the order of the email's events", async () => {
  const defaultServer = await world.sink();
  const subscribed = await world.sink();
  await world.endpoint(defaultServer, ["email.sent", "email.delivered", "email.bounced"]);
  await world.endpoint(subscribed, ["email.queued", "email.sent", "email.delivered"]);
  await world.sendByApi();
  await world.sendByApi({ to: "bounced@backstamp.test" });
  await world.sendDue();
  const typesOf = (sink: HttpSink) => sink.received.map(({ body }) => JSON.parse(body).type).sort();
  expect(typesOf(defaultServer)).toEqual(["email.bounced", "email.delivered", "email.sent"]);
  expect(typesOf(subscribed)).toEqual(["email.delivered", "email.queued", "email.queued", "email.sent"]);
  const sequences = subscribed.received
    .map(({ body }) => JSON.parse(body))
    .filter(({ data }) => data.to[0] === "delivered@backstamp.test")
    .map(({ type, data }) => [data.sequence, type])
    .sort();
  expect(sequences).toEqual([
    [1, "email.queued"],
    [2, "email.sent"],
    [3, "email.delivered"],
  ]);
  expect(JSON.parse(ofType(defaultServer, "email.bounced")[0]?.body ?? "").data.bounce).toMatchObject({
    type: "Permanent",
    subType: "NoEmail",
  });
});

test("email.unknown is sent only to endpoints that name it, and others get only the delay event", async () => {
  const defaultServer = await world.sink();
  const subscribed = await world.sink();
  await world.endpoint(defaultServer, ["email.delivery_delayed", "email.delivered"]);
  await world.endpoint(subscribed, ["email.unknown"]);
  await world.sendByApi({ to: "unknown@backstamp.test" });
  await world.sendDue();
  expect(defaultServer.received).toEqual([]);
  expect(subscribed.received.map(({ body }) => JSON.parse(body).data.unknown)).toMatchObject([
    { policy: "retry" },
  ]);
});

describe("an endpoint that fails", () => {
  test("is retried by the table with the same id and body and a new signature each time, until the event fails", async () => {
    const sink = await world.sink(() => ({ status: 500, body: "out of order" }));
    const { id, secret } = await world.endpoint(sink, ["email.delivered"]);
    await world.sendByApi();
    const waitsMs: number[] = [];
    // The waits between these are those of `classify-response.test.ts`.
    for (const [index, attempt] of [1, 2, 7, 8].entries()) {
      await world.hot`update webhook_deliveries set attempts = ${attempt - 1}`;
      await world.sendDue();
      await sendDueEvents(world.worker);
      expect(sink.received).toHaveLength(index + 1);
      const [event] = await world.eventsOf(id);
      const last = event?.attempts_made.at(-1);
      waitsMs.push(Date.parse(String(last?.next_attempt_at)) - Date.parse(String(last?.sent_at)));
      expect(event).toMatchObject({ status: attempt < 8 ? "pending" : "failed", attempts: attempt });
      // The longest wait is 10 hours plus 20% jitter.
      await world.elapse("12 hours 1 minute");
    }
    await world.sendDue();
    expect(sink.received).toHaveLength(4);
    for (const [index, seconds] of [5, 300, 36_000].entries()) {
      expect(waitsMs[index]).toBeGreaterThanOrEqual(seconds * 800 - 1_000);
      // The times of the request and of its record differ by what a busy machine takes.
      expect(waitsMs[index]).toBeLessThanOrEqual(seconds * 1_200 + 60_000);
    }
    expect(new Set(sink.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(sink.received.map((request) => header(request, "svix-id"))).size).toBe(1);
    expect(new Set(sink.received.map((request) => header(request, "svix-timestamp"))).size).toBe(4);
    for (const request of sink.received) {
      const { id: message, timestamp, signature } = signed(request, "svix");
      const at = new Date(Number(timestamp) * 1_000);
      expect(new Webhook(secret).sign(message, at, request.body)).toBe(signature);
    }
    const [event] = await world.eventsOf(id);
    expect(event?.attempts_made.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(event?.attempts_made[0]).toMatchObject({
      http_status_code: 500,
      response: "out of order",
      fault: null,
      next_attempt_at: expect.any(String),
      request: { url: `http://127.0.0.1:${sink.port}/hooks`, headers: { "svix-id": event?.id } },
    });
    expect(event?.attempts_made[3]).toMatchObject({ next_attempt_at: null });
  });

  test("and then recovers gets the same event once more", async () => {
    const sink = await world.sink((_, nth) => (nth === 1 ? 503 : 204));
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await world.sendByApi();
    await world.sendDue();
    await world.elapse("10 seconds");
    await world.sendDue();
    await world.elapse("2 days");
    await world.sendDue();
    expect(sink.received).toHaveLength(2);
    const [event] = await world.eventsOf(id);
    expect(event).toMatchObject({ status: "success", next_attempt_at: null });
    expect(event?.attempts_made.map((attempt) => attempt.http_status_code)).toEqual([503, 204]);
  });

  test.each([301, 307])("a %i is a failure and is not followed", async (status) => {
    const elsewhere = await world.sink();
    const sink = await world.sink(() => ({
      status,
      headers: { location: `http://127.0.0.1:${elsewhere.port}/` },
    }));
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await world.sendByApi();
    await world.sendDue();
    expect(elsewhere.received).toEqual([]);
    expect((await world.eventsOf(id))[0]).toMatchObject({
      status: "pending",
      attempts_made: [{ http_status_code: status }],
    });
  });

  test("has its response recorded as text up to 16 KB, for any content", async () => {
    const answers = [
      { status: 500, body: `<script>alert(1)</script>${"x".repeat(100_000)}` },
      { status: 500, body: Buffer.from([0x61, 0x00, 0xff, 0xfe, 0x62]) },
      { status: 500, headers: { "content-encoding": "gzip" }, body: Buffer.from([0x1f, 0x8b, 0x08]) },
    ];
    const sink = await world.sink((_, nth) => answers[nth - 1] ?? 200);
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await world.sendByApi();
    for (const _ of answers) {
      await world.sendDue();
      await world.elapse("3 hours");
    }
    const [event] = await world.eventsOf(id);
    const [page, bytes, packed] = event?.attempts_made.map(({ response }) => String(response)) ?? [];
    expect(page).toHaveLength(16 * 1024);
    expect(page).toMatch(/^<script>alert\(1\)<\/script>x+$/);
    expect(bytes).toBe("a\ufffd\ufffd\ufffdb");
    expect(packed).toBe("(3 bytes, encoded as gzip)");
  });

  test("has the fault class and no response recorded if it is unreachable", async () => {
    const sink = await world.sink();
    const { id } = await world.endpoint(sink, ["email.delivered"]);
    await sink.close();
    await world.sendByApi();
    await world.sendDue();
    expect((await world.eventsOf(id))[0]).toMatchObject({
      status: "pending",
      attempts_made: [{ http_status_code: null, response: null, fault: "refused" }],
    });
  });
});

test("during a rotation both secrets sign, and a day later only the new one", async () => {
  const sink = await world.sink();
  const { id, secret: old } = await world.endpoint(sink, ["email.delivered"]);
  const rotated = await world.ok("POST", `/api/webhooks/${id}/signing-secret/rotate`);
  const fresh = String(rotated.signing_secret);
  expect(rotated).toEqual({ object: "webhook", id, signing_secret: expect.stringMatching(/^whsec_/) });
  expect(fresh).not.toBe(old);
  const verifies = (secret: string, request: Received | undefined) => {
    const { id: message, timestamp, signature } = signed(request, "svix");
    const at = new Date(Number(timestamp) * 1_000);
    return signature.split(" ").includes(new Webhook(secret).sign(message, at, request?.body ?? ""));
  };
  await world.sendByApi();
  await world.sendDue();
  expect(verifies(old, sink.received[0])).toBe(true);
  expect(verifies(fresh, sink.received[0])).toBe(true);
  expect(await world.ok("GET", `/api/webhooks/${id}`)).toMatchObject({
    signing_secret: fresh,
    previous_signing_secret: old,
  });

  await world.elapse("24 hours 1 minute");
  await world.sendByApi();
  await world.sendDue();
  expect(verifies(old, sink.received[1])).toBe(false);
  expect(verifies(fresh, sink.received[1])).toBe(true);
  expect(await world.ok("GET", `/api/webhooks/${id}`)).toMatchObject({ previous_signing_secret: null });

  const again = await world.ok("POST", `/api/webhooks/${id}/signing-secret/rotate`);
  await world.ok("POST", `/api/webhooks/${id}/signing-secret/rotate`);
  await world.sendByApi();
  await world.sendDue();
  expect(verifies(fresh, sink.received[2])).toBe(false);
  expect(verifies(String(again.signing_secret), sink.received[2])).toBe(true);
});
