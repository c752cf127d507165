import { afterAll, beforeEach, expect, test } from "vitest";
import { createQueryDns } from "#server/mail/dns/dns";
import { recheckDomains } from "#server/services/domains/check/verify";
import { declareDomainVerified } from "#server/services/domains/write";
import { queueSystemEmail } from "#server/services/system-mail/queue";
import { dsn, failed } from "../mail/bounce/messages";
import { closeAfterTest, forEachTest } from "../support/fixtures";
import { deliverDue, sendDueSystemEmail } from "../support/pump-engine";
import { transportTo } from "../support/relays";
import { passReturnPathDelay } from "../support/return-path";
import { startInbound } from "../support/servers/inbound";
import { type SmtpScript, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { startTestInternet } from "../support/servers/test-internet";
import { type Listed, publish, startZone } from "../support/servers/zone";
import { createWorld, type World } from "../support/world";

const INSTALLATION = /^bounce-[a-z2-7]{52}@bounces\.example\.com$/;
const OWN = /^bounce-[a-z2-7]{52}@send\.own\.example$/;
const names = {
  mailHost: "mail.backstamp.example",
  returnPathDomain: "bounces.example.com" as string | null,
  webHost: null,
};

const { zone, peer: dns } = await startZone();
afterAll(() => dns.close());
const internet = forEachTest(() => startTestInternet({}));
const world = forEachTest(() => openDirectWorld({ names }));
beforeEach(() => {
  zone.clear();
  zone.set("example.net", "A", "127.0.0.2");
  zone.set(names.mailHost, "A", "192.0.2.25");
});

const openDirectWorld = (options: Parameters<typeof createWorld>[0]) =>
  createWorld({ transportKind: "direct", dnsServers: [dns], ...options });

/** The mail server of the recipients. */
const serve = (script: SmtpScript = {}) => internet.serve("127.0.0.2", script);
const round = (of: World = world) =>
  deliverDue(of.withTransport(internet.transport({ dns: createQueryDns([dns]) })));
const send = (to = ["ben@example.net"], of: World = world) =>
  of.send({ sender: "Ann <ann@own.example>", to });

type Domain = { id: string; status: string; records: (Listed & { purpose: string })[]; notes: object[] };
const call = async (method: string, path: string, body?: object, of: World = world) => {
  const { token } = await of.key();
  return (await of.api(method, `/api/domains${path}`, { token, ...(body && { body }) }))
    .body as unknown as Domain;
};
const verify = ({ id }: Domain, of: World = world) => call("POST", `/${id}/verify`, undefined, of);
/** A domain that was verified with all of its records in DNS. */
async function ownDomain(more: object = {}, of: World = world): Promise<Domain> {
  const domain = await call("POST", "", { name: "own.example", ...more }, of);
  publish(zone, domain.records);
  expect((await verify(domain, of)).status).toBe("verified");
  return domain;
}
const passDelay = () => passReturnPathDelay(world.hot);
const later = () => world.elapse("20 minutes");

/** Sends a report to a return path by SMTP; returns the response. */
async function bounce(to: string, recipient: string): Promise<string> {
  const inbound = await startInbound(world.deps);
  closeAfterTest(inbound);
  return inbound.bring(to, dsn({ to, recipients: [failed(recipient, "550 5.1.1 User unknown")] }));
}

test("a verified domain has its own return path, and a bounce to it counts for its recipient", async () => {
  const { messages } = await serve();
  await ownDomain();
  const { id } = await send(["ben@example.net", "cy@example.net"]);
  await round();
  expect(messages.map(({ from }) => from)).toEqual([expect.stringMatching(OWN), expect.stringMatching(OWN)]);
  const path = messages.find(({ to }) => to.includes("cy@example.net"))?.from ?? "";
  expect(await bounce(path, "cy@example.net")).toMatch(/^250/);
  expect((await world.email(id)).deliveries.map(({ status }) => status)).toEqual(["delivered", "bounced"]);
  expect([...(await world.hot`select address from suppressions`)]).toEqual([{ address: "cy@example.net" }]);
});

test("another label of the domain, and another sender beside it, have their own envelopes", async () => {
  const { messages } = await serve();
  await ownDomain({ custom_return_path: "mta" });
  await send();
  await world.send();
  await round();
  expect(messages.map(({ from }) => from.replace(/^.*@/, "")).toSorted()).toEqual([
    "bounces.example.com",
    "mta.own.example",
  ]);
});

test("every attempt of an email has the return path of its first, whatever DNS contains since", async () => {
  const { messages } = await serve({ message: ["451 4.7.1 later", "451 4.7.1 later", "250 ok", "250 ok"] });
  const domain = await ownDomain();
  const mx = domain.records.find(({ purpose }) => purpose === "mx") as Listed;
  await send(["own@example.net"]);
  await round();

  zone.set(mx.host, "MX", { preference: 10, exchange: "mx.elsewhere.example" });
  expect((await verify(domain)).status).toBe("verified");
  await passDelay();
  await send(["fallen@example.net"]);
  await round();

  publish(zone, [mx]);
  await verify(domain);
  await passDelay();
  await later();
  await round();
  await send(["again@example.net"]);
  await round();
  const paths = messages.map(({ from, to }) => [to.join(), from.replace(/^.*@/, "")]).toSorted();
  expect(paths).toEqual([
    ["again@example.net", "send.own.example"],
    ["fallen@example.net", "bounces.example.com"],
    ["fallen@example.net", "bounces.example.com"],
    ["own@example.net", "send.own.example"],
    ["own@example.net", "send.own.example"],
  ]);
});

test.each(["MX", "TXT"] as const)(
  "without the %s record, new email has the installation's return path",
  async (type) => {
    const { messages } = await serve();
    const domain = await ownDomain();
    zone.remove("send.own.example", type);
    expect((await verify(domain)).status).toBe("verified");
    await passDelay();
    await send();
    await round();
    expect(messages.map(({ from }) => from)).toEqual([expect.stringMatching(INSTALLATION)]);
  },
);

test("a domain that the operator verified loses its return path at a daily check, too", async () => {
  const { messages } = await serve();
  const domain = await call("POST", "", { name: "own.example" });
  await declareDomainVerified(world.ctx, "own.example");
  publish(zone, domain.records);
  await verify(domain);
  await passDelay();
  await send(["own@example.net"]);
  zone.remove("send.own.example", "MX");
  await world.elapse("25 hours");
  expect(await recheckDomains(world.deps, 10)).toBe(1);
  await passDelay();
  await send(["fallen@example.net"]);
  await round();
  expect(messages.map(({ from, to }) => [to.join(), from.replace(/^.*@/, "")]).toSorted()).toEqual([
    ["fallen@example.net", "bounces.example.com"],
    ["own@example.net", "send.own.example"],
  ]);
});

test("a failed lookup does not change the return path", async () => {
  const { messages } = await serve();
  const domain = await ownDomain();
  zone.fail("send.own.example", { rcode: "SERVFAIL" });
  await verify(domain);
  await passDelay();
  await send();
  await round();
  expect(messages.map(({ from }) => from)).toEqual([expect.stringMatching(OWN)]);
});

test("a bounce is received after the domain was deleted, and at the installation's return path", async () => {
  const { messages } = await serve();
  const domain = await ownDomain();
  const { id } = await send();
  const other = await world.send({ to: ["cy@example.net"] });
  await round();
  await call("DELETE", `/${domain.id}`);
  const pathOf = (pattern: RegExp) => messages.find(({ from }) => pattern.test(from))?.from ?? "";
  expect(await bounce(pathOf(OWN), "ben@example.net")).toMatch(/^250/);
  expect(await bounce(pathOf(INSTALLATION), "cy@example.net")).toMatch(/^250/);
  for (const each of [id, other.id]) expect((await world.email(each)).status).toBe("bounced");
  expect(await bounce(`bounce-${"a".repeat(52)}@send.own.example`, "ben@example.net")).toMatch(/^550/);
});

test("behind a relay, the return path is the installation's", async () => {
  const server = closeAfterTest(await startSmtpTestServer({}));
  await ownDomain();
  await send();
  await deliverDue(world.withTransport(closeAfterTest(transportTo(server))));
  expect(server.messages.map(({ from }) => from)).toEqual([expect.stringMatching(INSTALLATION)]);
});

test("without BACKSTAMP_RETURN_PATH_DOMAIN, a domain has its own return path if the launcher receives bounces", async () => {
  const { messages } = await serve();
  const without = { ...names, returnPathDomain: null };
  const receiving = closeAfterTest(
    await openDirectWorld({ names: without, policy: { hasInboundPort: true } }),
  );
  expect((await ownDomain({}, receiving)).notes).toEqual([]);
  await send(["own@example.net"], receiving);
  await receiving.send({ to: ["own@example.net"] });
  await round(receiving);
  expect(messages.map(({ from }) => from).toSorted()).toEqual([
    "ann@example.org",
    expect.stringMatching(OWN),
  ]);

  messages.length = 0;
  const deaf = closeAfterTest(await openDirectWorld({ names: without }));
  const { notes } = await ownDomain({}, deaf);
  expect(notes).toMatchObject([{ about: "MX", text: expect.stringContaining("BACKSTAMP_INBOUND_PORT") }]);
  await send(["sender@example.net"], deaf);
  await round(deaf);
  expect(messages.map(({ from }) => from)).toEqual(["ann@own.example"]);
});

test("system email has the null sender, or a signed return path: the installation's, or that of its sender's domain", async () => {
  const { messages } = await serve();
  const invite = async (of: World) => {
    const details = { path: "/invite#x", team: "First", role: "member" as const, inviter: null };
    const expiresAt = new Date(Date.now() + 3_600_000);
    const email = { kind: "invitation", to: "ben@example.net", details, expiresAt } as const;
    await queueSystemEmail(of.deps.db, of.deps, email);
    await sendDueSystemEmail(of.withTransport(internet.transport({ dns: createQueryDns([dns]) })));
  };
  await invite(closeAfterTest(await openDirectWorld({})));
  await invite(world);
  await ownDomain({ name: "mail.example.com" });
  await invite(world);
  expect(messages.map(({ from }) => from.replace(/[a-z2-7]{52}/, "token"))).toEqual([
    "",
    "bounce-token@bounces.example.com",
    "bounce-token@send.mail.example.com",
  ]);
  await expect(bounce(messages[2]?.from ?? "", "ben@example.net")).resolves.toMatch(/^250/);
});
