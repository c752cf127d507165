import { afterAll, expect, test } from "vitest";
import { addPastedSuppressions } from "#server/services/suppressions/transfer";
import { arf, dsn, failed } from "../mail/bounce/messages";
import { deliverDue, sendDueEvents } from "../support/pump-engine";
import { transportTo } from "../support/relays";
import { startHttpSink } from "../support/servers/http-sink";
import { fakeSendgrid } from "../support/servers/providers";
import { startSmtpTestServer } from "../support/servers/smtp-test-server";
import { openCallbackApp } from "./callback-app";

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
const app = await openCallbackApp({ names });
const { token } = await app.world.key();
const sink = await startHttpSink();
const server = await startSmtpTestServer({ rcpt: () => "550 5.1.1 no such user" });
const body = { endpoint: `http://127.0.0.1:${sink.port}/`, events: ["suppression.added"] };
await app.world.api("POST", "/api/webhooks", { token, body });
afterAll(async () => {
  await sink.close();
  await server.close();
});

const FIELDS = ["id", "email", "origin", "source_id", "lists_only", "lists", "created_at"];

type Added = { type: string; created_at: string; data: Record<string, unknown> };

/** The only event that the endpoint receives for this address. */
async function eventOf(address: string): Promise<Added> {
  await sendDueEvents(app.world.withTransport(null));
  const events = sink.received.map(({ body }) => JSON.parse(body) as Added);
  const [event, ...others] = events.filter(({ data }) => data.email === address);
  expect(others).toEqual([]);
  if (!event) throw new Error(`no event for ${address}`);
  return event;
}

const suppress = (body: object) => app.world.api("POST", "/api/suppressions", { token, body });

/** An email that a relay accepted, with the return path of its delivery. */
async function accepted(address: string) {
  const fake = fakeSendgrid();
  const relayId = await app.relayOf(fake);
  const sent = await app.sent(relayId, fake, [address]);
  const [row] = await app.world.hot<{ id: string }[]>`select id from deliveries where email_id = ${sent.id}`;
  const returnPath = `${app.world.deps.recipientTokens.returnPath(row?.id ?? "")}@bounces.example.com`;
  return { ...sent, fake, relayId, returnPath };
}

const receive = (raw: Buffer) =>
  app.world.api("POST", "/api/inbound/message", {
    token: app.world.deps.inboundToken ?? "",
    raw,
    headers: { "content-type": "message/rfc822" },
  });

/** Each cause, how it suppresses an address, and the entry that results. `source_id` is what it returns. */
const CAUSES: Record<string, [act: (address: string) => Promise<string | null>, entry: object]> = {
  "a hard bounce by SMTP reply": [
    async (address) => {
      const transport = transportTo(server);
      const email = { from: "Ann <ann@example.org>", to: address, subject: "Hello", text: "Hello" };
      const { body } = await app.world.api("POST", "/api/emails", { token, body: email });
      await deliverDue(app.world.withTransport(transport));
      await transport.close();
      return String(body.id);
    },
    { origin: "bounce", lists_only: false },
  ],
  "a bounce message": [
    async (address) => {
      const { id, returnPath } = await accepted(address);
      await receive(dsn({ id, to: returnPath, recipients: [failed(address, "550 5.1.1 gone")] }));
      return id;
    },
    { origin: "bounce", lists_only: false },
  ],
  "a complaint message": [
    async (address) => {
      const { id, returnPath } = await accepted(address);
      const fields = "Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1\n";
      await receive(arf(`${fields}Original-Mail-From: <${returnPath}>\n`, "Subject: Hello\n"));
      return id;
    },
    { origin: "complaint", lists_only: false },
  ],
  "a provider callback": [
    async (address) => {
      const { id, providerId, fake, relayId } = await accepted(address);
      const body = fake.report({ kind: "bounced", providerId, address });
      await app.post(relayId, fake.call(body, app.world.clock.now()));
      return id;
    },
    { origin: "bounce", lists_only: false },
  ],
  "an unsubscribe link": [
    async (address) => {
      const { id } = await accepted(address);
      const subscriber = { teamId: app.world.id, emailId: id, address };
      const link = app.world.deps.recipientTokens.unsubscribeLink(subscriber);
      await app.world.api("POST", new URL(link).pathname);
      return id;
    },
    { origin: "unsubscribe", lists_only: true },
  ],
  "the API": [
    async (address) => {
      await suppress({ email: address });
      return null;
    },
    { origin: "manual", lists_only: false },
  ],
  "the console": [
    async (address) => {
      await addPastedSuppressions(app.world.ctx, address);
      return null;
    },
    { origin: "manual", lists_only: false },
  ],
  "an import": [
    async (address) => {
      const raw = `email,origin\n${address},complaint\n`;
      const headers = { "content-type": "text/csv" };
      await app.world.api("POST", "/api/suppressions/csv", { token, raw, headers });
      return null;
    },
    { origin: "complaint", lists_only: false },
  ],
};

test.each(Object.entries(CAUSES))("%s sends the entry as the API returns it", async (cause, [act, entry]) => {
  const address = `${cause.toLowerCase().replaceAll(" ", "-")}@example.net`;
  const sourceId = await act(address);
  const event = await eventOf(address);
  const { object: _, ...listed } = (await app.world.api("GET", `/api/suppressions/${address}`, { token }))
    .body;
  expect(Object.keys(event)).toEqual(["type", "created_at", "data"]);
  expect(Object.keys(event.data)).toEqual(FIELDS);
  expect(event).toMatchObject({ type: "suppression.added", data: { ...entry, source_id: sourceId } });
  expect(event.data).toEqual(listed);
});

test("an unsubscribe that a bounce replaces sends a second event with the same id", async () => {
  const address = "replaced@example.net";
  const [unsubscribe] = CAUSES["an unsubscribe link"] ?? [];
  const [bounce] = CAUSES["a bounce message"] ?? [];
  await unsubscribe?.(address);
  const first = await eventOf(address);
  sink.received.length = 0;
  const sourceId = await bounce?.(address);
  const second = await eventOf(address);
  expect(second.data).toEqual({
    ...first.data,
    origin: "bounce",
    source_id: sourceId,
    lists_only: false,
  });
});

test("a complaint after a bounce sends no second event", async () => {
  const address = "bounced@example.net";
  const [bounce] = CAUSES["a bounce message"] ?? [];
  const [complain] = CAUSES["a complaint message"] ?? [];
  await bounce?.(address);
  await eventOf(address);
  await complain?.(address);
  const event = await eventOf(address);
  expect(event.data.origin).toBe("bounce");
  expect(await app.suppressed(address)).toBe("complaint");
});
