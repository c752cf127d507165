import nodemailer from "nodemailer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openInbound } from "#server/boot/inbound";
import type { Listener } from "#server/mail/bounce/listener";
import { createRelay } from "#server/mail/transport/relay";
import { parseSmtpUrl } from "#server/mail/transport/smtp-url";
import type { Transport } from "#server/mail/transport/transport";
import { tick } from "#server/worker/tick";
import { dsn, failed } from "../../mail/bounce/messages";
import { type House, openHouse } from "../../support/house";
import { type FaultPeer, startFaultPeer } from "../../support/smtp-peer";

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
const settings = {
  inboundPort: 0,
  returnPathDomain: "bounces.example.com",
  host: "127.0.0.1",
  hostname: "mail.example.com",
};
let house: House;
let peer: FaultPeer;
let relay: Transport;
let inbound: Listener;
beforeAll(async () => {
  house = await openHouse({ transportKind: "relay", names });
  peer = await startFaultPeer({});
  const url = parseSmtpUrl(`smtp://127.0.0.1:${peer.port}`);
  if (!url.ok) throw new Error(url.fault);
  relay = createRelay(url.target);
  const opened = await openInbound(settings, house.deps);
  if (!opened) throw new Error("nothing listens");
  inbound = opened;
});
afterAll(async () => {
  await inbound.close();
  await relay.close();
  await peer.close();
  await house.close();
});

/** Brings a report to the address that a mail's envelope named. */
async function bring(to: string, raw: Buffer): Promise<string> {
  const transport = nodemailer.createTransport({ host: "127.0.0.1", port: inbound.port, ignoreTLS: true });
  const { response } = await transport.sendMail({ envelope: { from: "", to }, raw });
  transport.close();
  return response;
}

test("each recipient's copy has a return path of its own, and what comes back to one is that recipient's", async () => {
  const { id } = await house.send({ to: ["ben@example.net", "cy@example.net"] });
  await tick(house.withTransport(relay), { budgetMs: 20_000 });
  const paths = new Map(peer.messages.map(({ from, to }) => [to.join(), from]));
  const [first, second] = ["ben@example.net", "cy@example.net"].map((each) => paths.get(each) ?? "");
  expect(new Set([first, second]).size).toBe(2);
  expect(first).toMatch(/^bounce-[a-z2-7]{52}@bounces\.example\.com$/);

  const report = dsn({ to: second, recipients: [failed("cy@example.net", "550 5.1.1 User unknown")] });
  expect(await bring(second ?? "", report)).toMatch(/^250/);
  const email = await house.email(id);
  expect(email.status).toBe("bounced");
  expect(email.deliveries.map(({ status }) => status)).toEqual(["sent", "bounced"]);
  const rows = await house.hot`select address from suppressions`;
  expect([...rows]).toEqual([{ address: "cy@example.net" }]);
});

test("a report that comes while the database is away is not taken, and counts when it comes again", async () => {
  const { id } = await house.send({ to: ["di@example.net"] });
  peer.messages.length = 0;
  await tick(house.withTransport(relay), { budgetMs: 20_000 });
  const path = peer.messages[0]?.from ?? "";
  const report = dsn({
    to: path,
    id: "later",
    recipients: [failed("di@example.net", "550 5.1.1 User unknown")],
  });
  await house.hot`alter table deliveries rename to deliveries_gone`;
  try {
    await expect(bring(path, report)).rejects.toMatchObject({ responseCode: 451 });
  } finally {
    await house.hot`alter table deliveries_gone rename to deliveries`;
  }
  expect((await house.email(id)).status).toBe("sent");
  expect(await bring(path, report)).toMatch(/^250/);
  expect((await house.email(id)).status).toBe("bounced");
});

test("nothing listens where no port is named", async () => {
  expect(await openInbound({ ...settings, inboundPort: null }, house.deps)).toBeNull();
});
