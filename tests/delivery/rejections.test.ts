import { expect, test } from "vitest";
import { createRelay } from "#server/mail/transport/relay";
import type { Transport } from "#server/mail/transport/transport";
import { targetOf } from "../mail/relay-world";
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

async function relayTo(script: SmtpScript, login = ""): Promise<void> {
  peer = closeAfterTest(await startSmtpTestServer(script));
  transport = closeAfterTest(
    createRelay(targetOf(`smtp://${login}127.0.0.1:${peer.port}`), { loginPauseMs: 1 }),
  );
}

const round = () => deliverDue(world.withTransport(transport));
const waitMinutes = async () => {
  const [row] = await world.hot<{ minutes: number }[]>`
    select extract(epoch from due_at - now())::float / 60 as minutes from deliveries`;
  return row?.minutes ?? Number.NaN;
};

test("each recipient's rejection has its class and advice", async () => {
  const replies: Record<string, string> = {
    gone: "550 5.1.1 no such user",
    listed: "550 5.1.1 <x> blocked using dnsbl.example",
    full: "452 4.2.2 mailbox full",
  };
  await relayTo({ rcpt: ({ address }) => replies[address.split("@")[0] ?? ""] ?? "250 ok" });
  const { id } = await world.send({
    to: ["gone@example.net", "listed@example.net", "full@example.net", "ben@example.net"],
  });
  await round();
  const email = await world.email(id);
  const about = (address: string) =>
    email.events.find(({ recipient, type }) => recipient === address && type !== "email.queued");
  expect(about("gone@example.net")).toMatchObject({
    type: "email.bounced",
    data: {
      class: "hard",
      advice: expect.stringMatching(/^Check the address/),
      reason: expect.stringMatching(/mailbox does not exist/),
    },
  });
  expect(about("listed@example.net")).toMatchObject({ type: "email.bounced", data: { class: "reputation" } });
  expect(about("full@example.net")).toMatchObject({
    type: "email.delivery_delayed",
    data: { class: "quota" },
  });
  expect(about("ben@example.net")?.data).not.toHaveProperty("class");
  const suppressed = await world.hot`select address from suppressions`;
  expect(suppressed.map(({ address }) => address)).toEqual(["gone@example.net"]);
});

test("a greylisted delivery is retried after the stated wait, or after 5 minutes", async () => {
  await relayTo({ rcpt: ["450 4.2.0 Greylisted for 8 minutes", "451 4.7.1 Greylisted", "250 ok"] });
  const { id } = await world.send();
  await round();
  expect((await world.email(id)).deliveries[0]).toMatchObject({ waitRule: "greylisted", status: "queued" });
  const stated = await waitMinutes();
  expect(stated).toBeGreaterThan(7.5);
  expect(stated).toBeLessThan(10);
  await world.elapse("10 minutes");
  await round();
  const usual = await waitMinutes();
  expect(usual).toBeGreaterThan(4.5);
  expect(usual).toBeLessThan(6.1);
  await world.elapse("7 minutes");
  await round();
  expect(await world.email(id)).toMatchObject({ status: "sent" });
});
