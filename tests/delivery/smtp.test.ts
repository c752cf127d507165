import { afterEach, beforeEach, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import type { Transport } from "#server/mail/transport/transport";
import {
  DROP,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { createWorld, type World } from "../support/world";

let world: World;
let peer: SmtpTestServer;
let transport: Transport;

beforeEach(async () => {
  world = await createWorld({ transportKind: "relay" });
});
afterEach(async () => {
  await transport?.close();
  await peer?.close();
  await world.close();
});

async function relayTo(script: SmtpScript, options = ""): Promise<void> {
  peer = await startSmtpTestServer(script);
  const url = parseSmtpUrl(`smtp://${options}127.0.0.1:${peer.port}`);
  if (!url.ok) throw new Error(url.fault);
  transport = createRelay(url.target);
}

const round = () => tick(world.withTransport(transport), { budgetMs: 20_000 });
const typesOf = (email: { events: { type: string }[] }) => email.events.map(({ type }) => type);

test("a relay's 250 makes an email sent, recorded with reply and host, in one transaction for its recipients", async () => {
  await relayTo({});
  const { id } = await world.send({
    to: ["ben@example.net", "cy@example.net"],
    sender: "Ann <ann@example.org>",
  });
  await round();
  expect(peer.messages).toHaveLength(1);
  expect(peer.messages[0]).toMatchObject({
    from: "ann@example.org",
    to: ["ben@example.net", "cy@example.net"],
  });
  const email = await world.email(id);
  expect(email.status).toBe("sent");
  expect(email.deliveries[0]).toMatchObject({
    status: "sent",
    lastCode: 250,
    lastEnhanced: "2.0.0",
    lastHost: "127.0.0.1",
  });
  expect(typesOf(email)).toEqual(["email.queued", "email.sent", "email.sent"]);
});

test("bcc recipients get the email and do not appear in it", async () => {
  await relayTo({});
  const secret = {
    name: null,
    local: "secret",
    domain: "example.net",
    address: "secret@example.net",
    smtpUtf8: false,
  };
  await world.send({ bcc: [secret] });
  await round();
  expect(peer.messages[0]?.to).toContain("secret@example.net");
  expect(peer.messages[0]?.bytes.toString()).not.toContain("secret@");
});

test("each recipient of an email has the outcome of its own reply", async () => {
  await relayTo({
    rcpt: ({ address }) =>
      address.startsWith("gone")
        ? "550 5.1.1 no such user"
        : address.startsWith("busy")
          ? "451 4.7.1 greylisted"
          : "250 ok",
  });
  const { id } = await world.send({ to: ["ok@example.net", "gone@example.net", "busy@example.net"] });
  await round();
  const email = await world.email(id);
  expect(email.deliveries.map(({ status, lastCode }) => [status, lastCode])).toEqual([
    ["sent", 250],
    ["bounced", 550],
    ["queued", 451],
  ]);
  expect(email.status).toBe("bounced");

  // Only the deferred recipient is retried, with the same envelope sender, not before its due time.
  await round();
  expect(peer.messages).toHaveLength(1);
  await world.elapse("20 minutes");
  await round();
  await round();
  expect(peer.messages).toHaveLength(1);
  expect((await world.email(id)).deliveries[2]).toMatchObject({
    status: "queued",
    attempts: 2,
    waitRule: "greylisted",
  });
});

test("temporary rejection of all recipients bounces none, permanent rejection bounces each", async () => {
  await relayTo({ mail: ["421 4.3.2 shutting down", "550 5.7.1 not you"] });
  const { id } = await world.send({ to: ["a@example.net", "b@example.net"] });
  await round();
  expect((await world.email(id)).status).toBe("deferred");
  await world.elapse("20 minutes");
  await round();
  const email = await world.email(id);
  expect(email.deliveries.map(({ status }) => status)).toEqual(["bounced", "bounced"]);
  expect(email.deliveries[0]?.lastText).toContain("not you");
});

test("a connection lost after the final dot is an unknown outcome, and the second copy has the same Message-ID and bytes", async () => {
  await relayTo({ message: [DROP, "250 2.0.0 kept"] });
  const { id } = await world.send({ subject: "Once or twice" });
  await round();
  expect(typesOf(await world.email(id))).toEqual(["email.queued", "email.unknown"]);
  await world.elapse("20 minutes");
  await round();
  expect(await world.email(id)).toMatchObject({ status: "sent" });
  expect(peer.messages).toHaveLength(2);
  expect(peer.messages[0]?.bytes.equals(peer.messages[1]?.bytes ?? Buffer.alloc(0))).toBe(true);
});

test("a connection lost before the final dot is not an unknown outcome", async () => {
  await relayTo({ data: [DROP], body: [DROP] });
  const { id } = await world.send();
  await round();
  const email = await world.email(id);
  expect(typesOf(email)).toEqual(["email.queued", "email.delivery_delayed"]);
  expect(peer.messages).toHaveLength(0);
});

test("with the policy hold an email with an unknown outcome is never resent automatically", async () => {
  await world.hot`update teams set unknown_policy = 'hold'`;
  await relayTo({ message: [DROP] });
  const { id } = await world.send();
  await round();
  await world.elapse("10 days");
  await round();
  expect(peer.messages).toHaveLength(1);
  expect((await world.email(id)).status).toBe("unknown");
});

test("a rejected login is a fault on our side: email waits, nothing bounces, and logins are rare", async () => {
  await relayTo(
    { ehlo: "250-peer.test\r\n250 AUTH PLAIN", auth: "535 5.7.8 bad credentials" },
    "user:wrong@",
  );
  const ids = await Promise.all(Array.from({ length: 20 }, () => world.send()));
  await round();
  await round();
  const emails = await Promise.all(ids.map(({ id }) => world.email(id)));
  // The attempts that failed, and those that the paused relay prevented.
  for (const { status, deliveries } of emails) {
    expect(["deferred", "queued"]).toContain(status);
    expect(deliveries[0]?.waitRule).toBe("relay_paused");
  }
  expect(peer.commands.filter((line) => line.startsWith("AUTH"))).toHaveLength(1);
});

test("a delivery fails with the reason at the end of the retry table, after about four days", async () => {
  await relayTo({ rcpt: "451 4.2.1 not today" });
  const { id } = await world.send();
  for (let attempt = 1; attempt <= 12; attempt++) {
    await round();
    expect((await world.email(id)).deliveries[0]).toMatchObject({ status: "queued", attempts: attempt });
    await world.elapse("30 hours");
  }
  await round();
  const email = await world.email(id);
  expect(email.status).toBe("failed");
  expect(email.deliveries[0]?.lastReason).toContain("13 attempts");
  expect(typesOf(email).at(-1)).toBe("email.failed");
});
