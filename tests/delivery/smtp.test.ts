import { expect, test } from "vitest";
import type { Transport } from "#server/mail/transport/transport";
import { relayTo as openRelayTo } from "../mail/relay-world";
import { closeAfterTest, forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import {
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let peer: SmtpTestServer;
let transport: Transport;

async function relayTo(script: SmtpScript): Promise<void> {
  peer = closeAfterTest(await startSmtpTestServer(script));
  transport = closeAfterTest(openRelayTo(peer));
}

const round = () => deliverDue(world.withTransport(transport));
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

test("a delivery fails with the reason at the end of the retry table, after about four days", async () => {
  await relayTo({ rcpt: "451 4.2.1 not today" });
  const { id } = await world.send();
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 12; attempt++) {
    await round();
    const [row] = await world.hot`
      select status, attempts, extract(epoch from due_at - updated_at)::float / 60 as minutes from deliveries`;
    expect(row).toMatchObject({ status: "queued", attempts: attempt });
    waits.push(row?.minutes);
    await world.hot`update deliveries set due_at = now()`;
  }
  for (const [nth, minutes] of [1, 5, 15, 30, 60, 120, 240, 480, 720, 1_440, 1_440, 1_440].entries()) {
    expect(waits[nth]).toBeGreaterThan(minutes * 0.79);
    expect(waits[nth]).toBeLessThan(minutes * 1.21);
  }
  await round();
  const email = await world.email(id);
  expect(email.status).toBe("failed");
  expect(email.deliveries[0]?.lastReason).toContain("13 attempts");
  expect(typesOf(email).at(-1)).toBe("email.failed");
});
