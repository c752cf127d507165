import { beforeEach, expect, test } from "vitest";
import type { Transport } from "#server/mail/transport/transport";
import { createKeyring } from "#server/platform/secrets/keyring";
import { createVault } from "#server/platform/secrets/vault";
import { rotateDomainKey } from "#server/services/domains/dkim/rotate";
import { findDomain } from "#server/services/domains/read";
import { relayTo as openRelayTo } from "../mail/relay-world";
import { addSignedDomain, verifySigned } from "../support/dkim-verifier";
import { closeAfterTest, forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import {
  DROP,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let peer: SmtpTestServer;
let transport: Transport;

beforeEach(async () => {
  await addSignedDomain(world, "signed.example");
});
async function relayTo(script: SmtpScript): Promise<void> {
  peer = closeAfterTest(await startSmtpTestServer(script));
  transport = closeAfterTest(openRelayTo(peer));
}

const round = (deps = world.withTransport(transport)) => deliverDue(deps);
/** With lines that start with a dot, which SMTP escapes by doubling it. */
const send = () => world.send({ sender: "Ann <ann@signed.example>", html: "<p>x</p>\n.\n..\n.y\n" });
const signatures = (bytes: Buffer | undefined) =>
  bytes?.toString("latin1").match(/^DKIM-Signature:/gim)?.length ?? 0;

test("sent messages are signed with both keys of the sender's domain", async () => {
  await relayTo({});
  await send();
  await round();
  const [message] = peer.messages;
  expect(signatures(message?.bytes)).toBe(2);
  expect(message?.bytes.toString()).toMatch(/^DKIM-Signature: [^;]*; a=rsa-sha256;[^:]*\bd=signed\.example;/);
  const verified = await verifySigned(world.ctx, "signed.example", [message?.bytes ?? Buffer.of()]);
  expect(verified ?? [[true, true]]).toEqual([[true, true]]);
});

test("the bytes of an email stay the same over its attempts, even if the domain's keys were rotated", async () => {
  await relayTo({ message: [DROP, "250 2.0.0 kept"] });
  await send();
  await round();
  const { id } = await findDomain(world.ctx, "signed.example");
  await rotateDomainKey(world.ctx, id);
  await world.hot`update dkim_keys set signs_until = now() where signs_from is not null`;
  await world.hot`update dkim_keys set signs_from = now() where signs_from is null`;
  await world.elapse("20 minutes");
  await round();
  expect(peer.messages).toHaveLength(2);
  expect(signatures(peer.messages[0]?.bytes)).toBe(2);
  expect(peer.messages[0]?.bytes.equals(peer.messages[1]?.bytes ?? Buffer.of())).toBe(true);
});

test("a key created after an email was accepted does not sign it", async () => {
  await relayTo({});
  await send();
  await world.hot`update dkim_keys set signs_from = now() + interval '1 second'`;
  await round();
  expect(signatures(peer.messages[0]?.bytes)).toBe(0);
});

test("email whose DKIM key cannot be decrypted waits and is never sent unsigned", async () => {
  await relayTo({});
  const { id } = await send();
  await round({
    ...world.withTransport(transport),
    vault: createVault(createKeyring(["another secret altogether, by mistake"])),
  });
  expect(peer.messages).toHaveLength(0);
  const email = await world.email(id);
  expect(email.deliveries[0]).toMatchObject({
    status: "queued",
    waitRule: "retry_schedule",
    lastReason: expect.stringContaining("BACKSTAMP_SECRET"),
  });
  await world.elapse("20 minutes");
  await round();
  expect(signatures(peer.messages[0]?.bytes)).toBe(2);
});

test("a scheduled email has its scheduled time as date and signing time", async () => {
  await relayTo({});
  const { id } = await world.send({ sender: "Ann <ann@signed.example>", scheduledAt: "in 2 hours" });
  await world.elapse("2 hours");
  await round();
  const [row] = await world.hot<{ due: Date }[]>`select scheduled_at as due from emails where id = ${id}`;
  const dueMs = row?.due.getTime() ?? 0;
  const text = peer.messages[0]?.bytes.toString() ?? "";
  expect(text).toContain(`t=${Math.floor(dueMs / 1000)};`);
  expect(Date.parse(/^Date: (.*)$/m.exec(text)?.[1] ?? "")).toBe(Math.floor(dueMs / 1000) * 1000);
});

test("email from the built-in domain or from a domain without keys is sent unsigned", async () => {
  await relayTo({});
  await world.send();
  await round();
  expect(signatures(peer.messages[0]?.bytes)).toBe(0);
});

test("keys of a domain that the operator added as verified sign at once, but not after it sent unsigned email", async () => {
  await relayTo({});
  const { token } = await world.key();
  const createKeys = ({ id }: { id: string }) => world.api("GET", `/api/domains/${id}`, { token });
  const [fresh, used] = [await world.domain("fresh.example"), await world.domain("used.example")];
  await createKeys(fresh);
  await world.send({ sender: "ann@fresh.example" });
  await world.send({ sender: "ann@used.example" });
  await createKeys(used);
  await world.send({ sender: "ann@used.example" });
  await round();
  const signed = peer.messages.map(({ from, bytes }) => [from, signatures(bytes)]);
  expect(signed.toSorted()).toEqual([
    ["ann@fresh.example", 1],
    ["ann@used.example", 0],
    ["ann@used.example", 0],
  ]);
});
