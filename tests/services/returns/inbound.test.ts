import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { tick } from "#server/delivery/tick";
import { PARSE_REPORT } from "#server/mail/bounce/read-report";
import type { Transport } from "#server/mail/transport/transport";
import { readSettings } from "#server/platform/env/settings";
import { openInbound } from "#server/startup/smtp/inbound";
import { dsn, failed } from "../../mail/bounce/messages";
import { forAllTests } from "../../support/fixtures";
import { transportTo } from "../../support/relays";
import { type Inbound, startInbound } from "../../support/servers/inbound";
import { startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { createWorld, type World } from "../../support/world";

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
let world: World;
const server = forAllTests(() => startSmtpTestServer({}));
let relay: Transport;
let inbound: Inbound;
beforeAll(async () => {
  world = await createWorld({ transportKind: "relay", names });
  relay = transportTo(server);
  inbound = await startInbound(world.deps);
});
afterAll(async () => {
  await inbound.close();
  await relay.close();
  await world.close();
});

test("each recipient's copy has its own return path, and a bounce to it counts for that recipient", async () => {
  const { id } = await world.send({ to: ["ben@example.net", "cy@example.net"] });
  await tick(world.withTransport(relay), { budgetMs: 60_000 });
  const paths = new Map(server.messages.map(({ from, to }) => [to.join(), from]));
  const [first, second] = ["ben@example.net", "cy@example.net"].map((each) => paths.get(each) ?? "");
  expect(new Set([first, second]).size).toBe(2);
  expect(first).toMatch(/^bounce-[a-z2-7]{52}@bounces\.example\.com$/);

  const report = dsn({ to: second, recipients: [failed("cy@example.net", "550 5.1.1 User unknown")] });
  expect(await inbound.bring(second ?? "", report)).toMatch(/^250/);
  const email = await world.email(id);
  expect(email.status).toBe("bounced");
  expect(email.deliveries.map(({ status }) => status)).toEqual(["sent", "bounced"]);
  const rows = await world.hot`select address from suppressions`;
  expect([...rows]).toEqual([{ address: "cy@example.net" }]);
});

/** Delivers an email to this address; returns its id and its return path. */
async function deliver(to: string) {
  const { id } = await world.send({ to: [to] });
  server.messages.length = 0;
  await tick(world.withTransport(relay), { budgetMs: 60_000 });
  return { id, path: server.messages[0]?.from ?? "" };
}

const message = (path: string, from: string, subject: string, text: string) =>
  Buffer.from(
    `From: ${from}\r\nTo: <${path}>\r\nSubject: ${subject}\r\nMessage-ID: <${subject.length}@x>\r\n\r\n${text}`,
  );

test("a notice in no known form from the null sender is a bounce, with the class of its text", async () => {
  const { id, path } = await deliver("fay@example.net");
  const text = "Your mail was not delivered.\r\n\r\nfay@example.net\r\nThe mailbox is full.\r\n";
  expect(
    await inbound.bring(path, message(path, "Robot <robot@x.example>", "Mail not delivered", text)),
  ).toMatch(/^250/);
  const { status, deliveries, events } = await world.email(id);
  expect(status).toBe("bounced");
  expect(events.at(-1)).toMatchObject({ type: "email.bounced", data: { class: "quota" } });
  expect(deliveries[0]).toMatchObject({ lastCode: null, replyClass: "quota", advice: expect.any(String) });
});

test("a report without a diagnostic has the class and the advice of its text for people", async () => {
  const { id, path } = await deliver("gil@example.net");
  const recipients = ["Final-Recipient: rfc822; gil@example.net\nAction: failed\nStatus: 5.0.0\n"];
  const report = dsn({ to: path, recipients, id: "no-diagnostic" }).toString("latin1");
  const text = "The address gil@example.net was not found.";
  const bytes = Buffer.from(report.replace("It could not be delivered.", text), "latin1");
  expect(await inbound.bring(path, bytes)).toMatch(/^250/);
  const { deliveries } = await world.email(id);
  expect(deliveries[0]).toMatchObject({ status: "bounced", replyClass: "hard", advice: expect.any(String) });
});

test("an absence note from the null sender changes nothing", async () => {
  const { id, path } = await deliver("hal@example.net");
  const text = "I am away until Monday. Your message will not be forwarded. Write to cy@example.net instead.";
  expect(await inbound.bring(path, message(path, "Hal <hal@example.net>", "Re: Hello", text))).toMatch(
    /^250/,
  );
  const { status, events } = await world.email(id);
  expect(status).toBe("sent");
  expect(events.map(({ type }) => type)).not.toContain("email.bounced");
});

test("a report is rejected temporarily while the database is unavailable, and recorded when it is sent again", async () => {
  const { id } = await world.send({ to: ["di@example.net"] });
  server.messages.length = 0;
  await tick(world.withTransport(relay), { budgetMs: 60_000 });
  const path = server.messages[0]?.from ?? "";
  const report = dsn({
    to: path,
    id: "later",
    recipients: [failed("di@example.net", "550 5.1.1 User unknown")],
  });
  await world.hot`alter table deliveries rename to deliveries_gone`;
  try {
    expect(await inbound.bring(path, report)).toMatch(/^451/);
  } finally {
    await world.hot`alter table deliveries_gone rename to deliveries`;
  }
  expect((await world.email(id)).status).toBe("sent");
  expect(await inbound.bring(path, report)).toMatch(/^250/);
  expect((await world.email(id)).status).toBe("bounced");
});

test("a long report is read once beside the thread that serves others", async () => {
  const { id } = await world.send({ to: ["ed@example.net"] });
  server.messages.length = 0;
  await tick(world.withTransport(relay), { budgetMs: 60_000 });
  const path = server.messages[0]?.from ?? "";
  const readHere = vi.spyOn(PARSE_REPORT, "read");
  const report = dsn({ to: path, recipients: [failed("ed@example.net", "550 5.1.1 User unknown")] });
  const long = Buffer.concat([report, Buffer.from("A: b\r\n".repeat(10_000))]);
  expect(await inbound.bring(path, long)).toMatch(/^250/);
  expect(readHere).not.toHaveBeenCalled();
  readHere.mockRestore();
  expect((await world.email(id)).status).toBe("bounced");
});

test("no listener starts without a port", async () => {
  expect(
    await openInbound({ inboundPort: null, host: "127.0.0.1", hostname: "mail.example.com" }, world.deps),
  ).toBeNull();
});

test("a port requires the domain of return paths, or the host that the MX records of senders name", () => {
  const read = (more: Record<string, string>) => () =>
    readSettings({ BACKSTAMP_INBOUND_PORT: "2525", ...more }, "start");
  expect(read({})).toThrow(/BACKSTAMP_RETURN_PATH_DOMAIN: Required with BACKSTAMP_INBOUND_PORT/);
  expect(read({ BACKSTAMP_HOSTNAME: "mail.example.com" })).not.toThrow();
  expect(read({ BACKSTAMP_RETURN_PATH_DOMAIN: "bounces.example.com" })).not.toThrow();
});
