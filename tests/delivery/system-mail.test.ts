import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memberships } from "#db/schema/teams";
import { deleteOldRecords } from "#server/delivery/housekeeping/old-records";
import { createRouting } from "#server/delivery/routing/routes";
import {
  createSystemEmailSender,
  SYSTEM_EMAIL_RETRY_AFTER_SECONDS,
} from "#server/delivery/system-mail/deliver";
import { tick } from "#server/delivery/tick";
import { headersOf } from "#server/mail/mime/compose";
import type { Transport } from "#server/mail/transport/transport";
import { newId } from "#server/platform/ids";
import { insertUser } from "#server/services/people/users";
import { findSystemEmailFault, queueSystemEmail, type SystemEmail } from "#server/services/system-mail/queue";
import { relayTo as openRelayTo } from "../mail/relay-world";
import { hashPasswordCheaply } from "../support/console/passwords";
import { addSignedDomain, verifySigned } from "../support/dkim-verifier";
import { forEachTest } from "../support/fixtures";
import { createGate } from "../support/gate";
import { sendDueSystemEmail } from "../support/pump-engine";
import { relayTo as addRelay } from "../support/relays";
import {
  type Act,
  HANG,
  PASS,
  type SmtpScript,
  type SmtpTestServer,
  startSmtpTestServer,
} from "../support/servers/smtp-test-server";
import { startTestInternet } from "../support/servers/test-internet";
import { createWorld } from "../support/world";

const LINK = /https:\/\/mail\.example\.com\/login\/link#[\w-]{43}/;

const world = forEachTest(() => createWorld({ transportKind: "relay" }));
let peer: SmtpTestServer | undefined;
let transport: Transport | null;

beforeEach(async () => {
  transport = null;
  peer = undefined;
  const passwordHash = hashPasswordCheaply("correct horse battery");
  const ann = { id: newId(), email: "ann@example.net", name: null, passwordHash };
  await insertUser(world.deps.db, ann, { isAddressVerified: true });
  await world.deps.db.insert(memberships).values({ teamId: world.ctx.teamId, userId: ann.id, role: "owner" });
});
afterEach(async () => {
  // The log records that an email was sent, without its content.
  expect(JSON.stringify(logged.splice(0))).not.toMatch(/ann@example|login\/link/);
  await transport?.close();
  await peer?.close();
});

async function relayTo(script: SmtpScript = {}): Promise<SmtpTestServer> {
  peer = await startSmtpTestServer(script);
  transport = openRelayTo(peer);
  return peer;
}

const logged: unknown[] = [];
function deps() {
  const record = (...line: unknown[]) => void logged.push(line);
  return { ...world.withTransport(transport), log: { info: record, warn: record, error: record } };
}
const round = () => sendDueSystemEmail(deps());
const queue = (mail: SystemEmail = link()) => queueSystemEmail(world.deps.db, world.deps, mail);
const link = (to = "ann@example.net"): SystemEmail => ({
  kind: "sign_in_link",
  to,
  details: { landing: "/console", device: "Firefox on Linux" },
});
const rows = () => world.hot<Record<string, unknown>[]>`select * from system_mails order by id`;
const later = (seconds: number) =>
  world.hot`update system_mails set due_at = due_at - ${seconds} * interval '1 second',
    created_at = created_at - ${seconds} * interval '1 second',
    expires_at = expires_at - ${seconds} * interval '1 second', ended_at = ended_at - ${seconds} * interval '1 second'`;
const textOf = (bytes: Buffer | undefined) =>
  (bytes?.toString() ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "=");

test("a sign-in link has text and HTML parts and is marked as auto-generated, and its content is erased", async () => {
  const { messages } = await relayTo();
  await queue();
  const [waiting] = await rows();
  expect(JSON.stringify(waiting)).not.toContain("Firefox");
  await round();
  expect(messages).toHaveLength(1);
  const [message] = messages;
  expect(message).toMatchObject({ from: "backstamp@mail.example.com", to: ["ann@example.net"] });
  const fields = Object.fromEntries(headersOf(message?.bytes ?? Buffer.of()).map((f) => [f.name, f.value]));
  expect(fields).toMatchObject({
    From: "Backstamp <backstamp@mail.example.com>",
    To: "ann@example.net",
    Subject: "Sign in to Backstamp at mail.example.com",
    "Auto-Submitted": "auto-generated",
    "Message-ID": expect.stringMatching(/^<[0-9a-f-]{36}@mail\.example\.com>$/),
  });
  const text = textOf(message?.bytes);
  expect(text).toMatch(LINK);
  expect(text).toContain("multipart/alternative");
  expect(text).toContain("We received a request from Firefox on Linux");
  expect(text).not.toMatch(/src=|@import|url\(/);
  const [row] = await rows();
  expect(row).toMatchObject({ status: "sent", details: null, attempts: 1, lease_token: null });
  expect(row?.ended_at).not.toBeNull();
  const token = /#([\w-]{43})/.exec(text)?.[1] ?? "";
  const dump =
    await world.hot`select t::text as row from sign_in_tokens t union all select s::text from system_mails s`;
  for (const { row } of dump) expect(row).not.toContain(token);
});

test("system email is in no list of emails, events, webhooks or API requests", async () => {
  await relayTo();
  await queue();
  await round();
  const [found] = await world.hot`
    select (select count(*)::int from emails) as emails, (select count(*)::int from deliveries) as deliveries,
      (select count(*)::int from email_events) as events, (select count(*)::int from email_bodies) as bodies,
      (select count(*)::int from captured_messages) as captured,
      (select count(*)::int from webhook_deliveries) as webhooks, (select count(*)::int from api_requests) as calls`;
  expect(found).toEqual({
    emails: 0,
    deliveries: 0,
    events: 0,
    bodies: 0,
    captured: 0,
    webhooks: 0,
    calls: 0,
  });
});

test("no email is sent to an address without an account", async () => {
  const { messages } = await relayTo();
  await queue(link("nobody@example.net"));
  await round();
  expect(messages).toEqual([]);
  expect(await rows()).toMatchObject([{ status: "dropped", details: null }]);
  expect(await world.hot`select * from sign_in_tokens`).toEqual([]);
});

test("an address that cannot be parsed, and one of the built-in domain, which has no mailboxes, fail at once", async () => {
  const { messages } = await relayTo();
  // Each of these letters is two bytes and becomes three in lower case: the local part is then above 64
  // bytes.
  await queue(link(`${"İ".repeat(32)}@example.com`));
  await queue(link("admin@backstamp.test"));
  await round();
  expect(messages).toEqual([]);
  const failed = { status: "failed", details: null };
  expect(await rows()).toMatchObject([failed, failed]);
});

test("an invitation names the inviter and the team, with any team name, and contains its link", async () => {
  const { messages } = await relayTo();
  await queue({
    kind: "invitation",
    to: "ben@example.net",
    expiresAt: new Date(Date.now() + 7 * 86_400_000),
    details: {
      path: "/join#abc",
      team: '<b onclick="x()">Sales</b>\r\nBcc: eve@example.net',
      role: "admin",
      inviter: "ann@example.net",
    },
  });
  await round();
  const [message] = messages;
  const text = textOf(message?.bytes);
  expect(message?.to).toEqual(["ben@example.net"]);
  expect(text).toContain("https://mail.example.com/join#abc");
  expect(text).toContain("ann@example.net invites you to the team");
  expect(text).toContain("&lt;b onclick=&quot;x()&quot;&gt;Sales&lt;/b&gt; Bcc: eve@example.net");
  expect(headersOf(message?.bytes ?? Buffer.of()).map(({ name }) => name)).not.toContain("Bcc");
});

test("a deferred email is retried, each time with a new link, until it expires", async () => {
  const { messages } = await relayTo({ message: ["451 4.3.0 later", "451 4.3.0 later", "250 2.0.0 kept"] });
  await queue();
  await round();
  expect(await rows()).toMatchObject([{ status: "queued", attempts: 1, details: expect.any(String) }]);
  await round();
  expect(messages).toHaveLength(1);
  for (const seconds of SYSTEM_EMAIL_RETRY_AFTER_SECONDS.slice(0, 2)) {
    await later(seconds);
    await round();
  }
  expect(await rows()).toMatchObject([{ status: "sent", attempts: 3, details: null }]);
  const ids = messages.map(({ bytes }) => /^Message-ID: (.*)$/m.exec(bytes.toString())?.[1]);
  expect(new Set(ids).size).toBe(1);
  const links = messages.map(({ bytes }) => LINK.exec(textOf(bytes))?.[0]);
  expect(new Set(links).size).toBe(3);
});

test("an expired email fails, and its content is erased", async () => {
  const { port, close } = await relayTo();
  await close();
  expect(port).toBeGreaterThan(0);
  await queue();
  await round();
  expect(await rows()).toMatchObject([{ status: "queued", attempts: 1 }]);
  await later(3_600);
  const { messages } = await relayTo();
  await round();
  expect(messages).toEqual([]);
  expect(await rows()).toMatchObject([{ status: "failed", details: null, ended_at: expect.any(Date) }]);
});

test("a rejected address is final", async () => {
  await relayTo({ rcpt: "550 5.1.1 unknown" });
  await queue();
  await round();
  expect(await rows()).toMatchObject([{ status: "failed", details: null, attempts: 1 }]);
});

test("a missing recipient domain is final after a second DNS response", async () => {
  const internet = await startTestInternet({});
  transport = internet.transport();
  await queue();
  await round();
  expect((await rows())[0]).toMatchObject({ status: "queued", attempts: 1, ended_at: null });
  await later(SYSTEM_EMAIL_RETRY_AFTER_SECONDS[0]);
  await round();
  expect((await rows())[0]).toMatchObject({ status: "failed", attempts: 2, details: null });
  await internet.close();
});

test("an email whose worker is gone is sent again after its lease expires, and a late result is not recorded", async () => {
  const begun = createGate();
  const { messages, dropAll } = await relayTo({
    data: ({ nth }) => {
      begun.open();
      return nth === 0 ? HANG : "354 go ahead";
    },
  });
  await queue();
  const routing = createRouting(deps());
  const lost = createSystemEmailSender(deps(), routing);
  await lost.pump();
  await begun.passed;
  await round();
  expect(await rows()).toMatchObject([{ status: "sending", attempts: 1 }]);
  await later(120);
  await round();
  expect(messages).toHaveLength(1);
  const [sent] = await rows();
  expect(sent).toMatchObject({ status: "sent", attempts: 2, details: null });
  dropAll();
  await lost.drain(60_000);
  await routing.close();
  expect(await rows()).toEqual([sent]);
});

test("system email needs a route of the installation, and the capture transport is none", async () => {
  const can = async (transportKind: "relay" | "direct" | "capture" | "none") =>
    (await findSystemEmailFault({ ...world.deps, transportKind })) === null;
  expect(await can("relay")).toBe(true);
  expect(await can("direct")).toBe(true);
  expect(await can("none")).toBe(false);
  await addRelay(world.deps, { port: 9 });
  expect(await can("none")).toBe(true);
  expect(await can("capture")).toBe(false);
  const home = { ...world.deps.home, sender: "backstamp@localhost" };
  expect(await findSystemEmailFault({ ...world.deps, home })).toContain("not a valid sender address");
});

test("system email uses the relay of the installation if there is one", async () => {
  const ours = await startSmtpTestServer();
  const elsewhere = await relayTo();
  await addRelay(world.deps, ours);
  await queue();
  await round();
  expect(ours.messages).toHaveLength(1);
  expect(elsewhere.messages).toEqual([]);
  await ours.close();
});

test("system email is signed if its sender's domain has a DKIM key here", async () => {
  await addSignedDomain(world, "mail.example.com");
  const { messages } = await relayTo();
  await queue();
  await round();
  const bytes = messages[0]?.bytes ?? Buffer.of();
  expect(bytes.toString()).toMatch(/^DKIM-Signature: [^;]*;[^:]*\bd=mail\.example\.com;/);
  const verified = await verifySigned(world.ctx, "mail.example.com", [bytes]);
  expect(verified?.flat() ?? [true]).toContain(true);
});

test("records are deleted after a week, and sooner if the address had no account", async () => {
  await relayTo();
  await queue();
  await queue(link("nobody@example.net"));
  await round();
  expect(await rows()).toHaveLength(2);
  await later(3_601);
  await deleteOldRecords(world.withTransport(transport), () => true);
  expect(await rows()).toMatchObject([{ status: "sent" }]);
  await later(7 * 86_400);
  await world.hot`update sign_in_tokens set expires_at = expires_at - interval '2 days'`;
  await deleteOldRecords(world.withTransport(transport), () => true);
  expect(await rows()).toEqual([]);
  expect(await world.hot`select * from sign_in_tokens`).toEqual([]);
});

test("system emails and emails share the connections of SMTP_URL", async () => {
  let open = 0;
  peer = await startSmtpTestServer({
    message: async (): Promise<Act> => {
      open = Math.max(open, peer?.open() ?? 0);
      await wait(100);
      return PASS;
    },
  });
  transport = openRelayTo(peer, "?pool=1");
  await queue();
  await world.send();
  await tick(deps(), { budgetMs: 60_000 });
  expect(peer.messages).toHaveLength(2);
  expect(open).toBe(1);
});
