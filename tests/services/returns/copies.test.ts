import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { memberships } from "#db/schema/teams";
import { deleteOldRecords } from "#server/delivery/housekeeping/old-records";
import { headersOf } from "#server/mail/mime/compose";
import type { Transport } from "#server/mail/transport/transport";
import { newId } from "#server/platform/ids";
import { exportAddress } from "#server/services/erasures/export";
import { requestErasure } from "#server/services/erasures/request";
import { runErasures } from "#server/services/erasures/run";
import { insertUser } from "#server/services/people/users";
import { getCopies, setCopies } from "#server/services/returns/copies/mailboxes";
import { dsn, failed } from "../../mail/bounce/messages";
import { hashPasswordCheaply } from "../../support/console/passwords";
import { forAllTests } from "../../support/fixtures";
import { deliverDue, sendDueSystemEmail } from "../../support/pump-engine";
import { transportTo } from "../../support/relays";
import { type Inbound, startInbound } from "../../support/servers/inbound";
import { type Act, PASS, type Seen, startSmtpTestServer } from "../../support/servers/smtp-test-server";
import { createWorld, type TestTeam, type World } from "../../support/world";

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
const MAILBOX = "ops@example.org";
/** What the server of the mailbox, or the relay before it, replies. */
let script: { mail?: Act; rcpt?: Act } = {};
const act = (verb: "mail" | "rcpt") => (seen: Seen) =>
  (verb === "rcpt" || seen.line.includes("<>") ? script[verb] : undefined) ?? PASS;

let world: World;
const server = forAllTests(() => startSmtpTestServer({ mail: act("mail"), rcpt: act("rcpt") }));
let relay: Transport;
let inbound: Inbound;
beforeAll(async () => {
  world = await createWorld({ transportKind: "relay", names });
  relay = transportTo(server);
  inbound = await startInbound(world.deps);
});
beforeEach(async () => {
  script = {};
  await world.hot`delete from return_copies`;
  await world.hot`delete from suppressions`;
  await setCopies(world.ctx, null, { bounceCopiesTo: MAILBOX, replyCopiesTo: MAILBOX });
});
afterAll(async () => {
  await inbound.close();
  await relay.close();
  await world.close();
});

const arrive = (to: string, raw: Buffer, from?: string) => inbound.bring(to, raw, from);

/** Sends an email; returns its id and its return path. */
async function send(to: string, sender = "Ann <ann@example.org>", by: TestTeam = world) {
  const { id } = await world.send({ to: [to], subject: "Your order", sender }, by.ctx);
  server.messages.length = 0;
  await deliverDue(world.withTransport(relay));
  return { id, path: server.messages[0]?.from ?? "" };
}

/** The copies that are sent now. */
async function sent() {
  server.messages.length = 0;
  await sendDueSystemEmail(world.withTransport(relay));
  return server.messages.map(({ from, to, bytes }) => {
    const fields = Object.fromEntries(headersOf(bytes).map(({ name, value }) => [name, value]));
    return {
      from,
      to,
      fields,
      text: bytes.toString("latin1").replaceAll("=\r\n", "").replaceAll("=3D", "="),
    };
  });
}

let count = 0;
const bounce = (path: string, address: string, action = "failed") =>
  dsn({
    to: path,
    id: `report-${++count}`,
    recipients: [failed(address, "550 5.1.1 User unknown").replace("failed", action)],
    returned: { text: `From: Ann <ann@example.org>\nTo: ${address}\nSubject: Your order\n` },
  });

const reply = (path: string, text: string, head = "", from = "Ben <ben@example.net>") =>
  Buffer.from(
    `From: ${from}\r\nTo: <${path}>\r\nSubject: Re: Your order\r\nMessage-ID: <r${++count}@example.net>\r\n${head}\r\n${text}\r\n`,
  );

const rows = () => world.hot<Record<string, unknown>[]>`select * from return_copies order by id`;

test("a bounce is sent to the mailbox as it came, once, with the null sender, and nothing of it is kept", async () => {
  const { id, path } = await send("ben@example.net");
  const report = bounce(path, "ben@example.net");
  expect(await arrive(path, report)).toMatch(/^250/);
  expect(await arrive(path, report)).toMatch(/^250/);
  expect((await world.email(id)).status).toBe("bounced");
  const copies = await sent();
  expect(copies).toHaveLength(1);
  const [{ from, to, fields, text } = { from: null, to: [], fields: {}, text: "" }] = copies;
  expect({ from, to }).toEqual({ from: "", to: [MAILBOX] });
  expect(fields).toMatchObject({
    "Auto-Submitted": "auto-generated",
    "Backstamp-Copy": "bounce",
    Subject: "Email to ben@example.net bounced: Your order",
  });
  expect(fields).not.toHaveProperty("Reply-To");
  expect(text).toContain("Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 7bit");
  expect(text).toContain(report.toString("latin1"));
  expect(text).toContain(`/console/emails/${id}?team=${world.id}`);
  expect(await rows()).toMatchObject([{ status: "sent", message: null, lease_token: null }]);
  // The same message a day later.
  await arrive(path, report);
  expect(await sent()).toEqual([]);
});

test("a person's reply is sent to the mailbox, and answering it reaches the person", async () => {
  const { path } = await send("ben@example.net");
  const head =
    "Reply-To: ben.home@example.net\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n";
  expect(await arrive(path, reply(path, "Schöne Grüße", head), "ben@example.net")).toMatch(/^250/);
  const [copy] = await sent();
  expect(copy).toMatchObject({
    from: "",
    to: [MAILBOX],
    fields: {
      "Reply-To": "ben.home@example.net",
      Subject: "Reply from ben.home@example.net: Re: Your order",
    },
  });
  expect(copy?.text).toContain(Buffer.from("Schöne Grüße").toString("base64"));
  expect(copy?.text).not.toMatch(/[^\0-\x7f]/);
});

test("a message that mail servers may not transfer as it is, or of more than a MB, is attached as a file", async () => {
  const { path } = await send("ben@example.net");
  await arrive(
    path,
    reply(path, `${"x".repeat(2_000)} ${`${"y".repeat(70)}\r\n`.repeat(20_000)}`),
    "ben@example.net",
  );
  const [copy] = await sent();
  expect(copy?.text).toContain("Only its first MB is attached.");
  expect(copy?.text).toContain("application/octet-stream\r\nContent-Transfer-Encoding: base64");
});

test("a message is accepted only once its copy is committed, and is copied once when it is sent again", async () => {
  const { id, path } = await send("ben@example.net");
  const report = bounce(path, "ben@example.net");
  await world.hot`alter table return_copies rename to return_copies_gone`;
  try {
    expect(await arrive(path, report)).toMatch(/^451/);
  } finally {
    await world.hot`alter table return_copies_gone rename to return_copies`;
  }
  expect((await world.email(id)).status).toBe("bounced");
  expect(await sent()).toEqual([]);
  expect(await arrive(path, report)).toMatch(/^250/);
  expect(await sent()).toHaveLength(1);
});

test("a copy whose worker stopped is sent by another one with the same Message-ID", async () => {
  const { path } = await send("ben@example.net");
  await arrive(path, bounce(path, "ben@example.net"));
  await world.hot`update return_copies set status = 'sending', attempts = 1, lease_token = ${newId()},
    due_at = now() + interval '2 min'`;
  expect(await sent()).toEqual([]);
  await world.elapse("3 min");
  const [row] = await rows();
  expect((await sent())[0]?.fields["Message-ID"]).toContain(String(row?.id));
});

test("delays, automatic replies, lists, read reports, copies and messages of the mailbox are not copied", async () => {
  const { path } = await send("ben@example.net");
  const own = await send(MAILBOX);
  await arrive(path, bounce(path, "ben@example.net"));
  const [{ text } = { text: "" }] = await sent();
  const copy = Buffer.from(text, "latin1");
  const forwarded = `Content-Type: message/rfc822\r\n\r\nFrom: a@example.org\r\nBackstamp-Copy: reply\r\n\r\nHi`;
  const returned =
    "From: Backstamp <backstamp@mail.example.com>\nBackstamp-Copy: bounce\nTo: ops@example.org\n";
  const recipients = [failed("ben@example.net", "550 5.1.1 User unknown")];
  const never: [Buffer, string?][] = [
    [bounce(path, "ben@example.net", "delayed")],
    [reply(path, "I am out of the office.", "Auto-Submitted: auto-replied\r\n"), "ben@example.net"],
    [reply(path, "Hi", "List-Id: <list.example.net>\r\n"), "ben@example.net"],
    [reply(path, "Hi", "Content-Type: multipart/report; boundary=b\r\n"), "ben@example.net"],
    [copy],
    [reply(path, forwarded, "Content-Type: multipart/mixed; boundary=b\r\n"), "ben@example.net"],
    [dsn({ to: path, id: "of-copy", recipients, returned: { text: returned } })],
    [reply(path, "Hi", "", `Ops <${MAILBOX.toUpperCase()}>`), MAILBOX],
  ];
  for (const [message, from] of never) expect(await arrive(path, message, from)).toMatch(/^250/);
  expect(await arrive(own.path, bounce(own.path, MAILBOX))).toMatch(/^250/);
  expect(await sent()).toEqual([]);
});

test("a domain has the mailboxes of its team, others or none, and another team's are its own", async () => {
  const other = await world.otherTeam();
  await other.domain("other.example");
  const [news, shop] = [await world.domain("news.example"), await world.domain("shop.example")];
  await setCopies(world.ctx, news.id, { bounceCopiesTo: "news@news.example", replyCopiesTo: null });
  await setCopies(other.ctx, null, { bounceCopiesTo: null, replyCopiesTo: "all@other.example" });
  await expect(setCopies(other.ctx, shop.id, null)).rejects.toMatchObject({ code: "not_found" });
  for (const [domain, by] of [["news.example"], ["shop.example"], ["other.example", other]] as const) {
    const { path } = await send("ben@example.net", `ann@${domain}`, by);
    await arrive(path, bounce(path, "ben@example.net"));
    await arrive(path, reply(path, `Hello ${domain}`), "ben@example.net");
    await world.hot`delete from suppressions`;
  }
  const copies = (await sent()).map(({ to, fields }) => `${fields["Backstamp-Copy"]} ${to.join()}`).sort();
  expect(copies).toEqual([
    "bounce news@news.example",
    `bounce ${MAILBOX}`,
    "reply all@other.example",
    `reply ${MAILBOX}`,
  ]);
  await setCopies(world.ctx, news.id, null);
  expect(await getCopies(world.ctx, news.id)).toMatchObject({ isOfTeam: true, bounceCopiesTo: MAILBOX });
});

async function member(email: string, isAddressVerified: boolean): Promise<string> {
  const id = newId();
  const passwordHash = hashPasswordCheaply("correct horse battery");
  await insertUser(world.deps.db, { id, email, name: null, passwordHash }, { isAddressVerified });
  await world.deps.db.insert(memberships).values({ teamId: world.id, userId: id, role: "viewer" });
  return id;
}

test("only a mailbox at a verified domain of the team or of a member has copies, for as long as it is one", async () => {
  await world.domain("new.example", { verified: false });
  const foreign = await world.otherTeam();
  await foreign.domain("foreign.example");
  await member("guest@example.net", false);
  const userId = await member("eve@example.net", true);
  const { path } = await send("ben@example.net");
  const wrong = {
    "stranger@example.net": "cannot have copies. Enter an address at a verified domain",
    "ops@new.example": "cannot have copies",
    "ops@foreign.example": "cannot have copies",
    "guest@example.net": "cannot have copies",
    "ops@backstamp.test": "cannot have copies",
    "ops@send.example.org": "is at a return path",
    "ops@bounces.example.com": "is at a return path",
    [path]: "is at a return path",
    [path.replace("bounces.example.com", "example.org")]: "is at a return path",
    "not an address": "Invalid `bounceCopiesTo`",
  };
  for (const [address, fault] of Object.entries(wrong))
    await expect(
      setCopies(world.ctx, null, { bounceCopiesTo: address, replyCopiesTo: null }),
      address,
    ).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining(fault) });

  await setCopies(world.ctx, null, { bounceCopiesTo: "Eve@example.net", replyCopiesTo: null });
  expect((await getCopies(world.ctx, null)).faults).toEqual([]);
  await arrive(path, bounce(path, "ben@example.net"));
  expect((await sent()).map(({ to }) => to)).toEqual([["Eve@example.net"]]);
  await arrive(path, bounce(path, "ben@example.net"));
  await world.hot`delete from memberships where user_id = ${userId}`;
  expect(await sent()).toEqual([]);
  expect((await rows()).map(({ status, message }) => ({ status, message }))).toEqual([
    { status: "sent", message: null },
    { status: "dropped", message: null },
  ]);
  expect((await getCopies(world.ctx, null)).faults).toEqual([
    expect.stringMatching(/^Eve@example\.net cannot have copies/),
  ]);
});

test("a mailbox that rejects copies is shown as failing, and nothing is sent back", async () => {
  const { path } = await send("ben@example.net");
  script = { rcpt: "451 4.3.0 Later" };
  await arrive(path, bounce(path, "ben@example.net"));
  expect(await sent()).toEqual([]);
  expect(await rows()).toMatchObject([{ status: "queued", message: expect.any(Uint8Array) }]);
  script = { rcpt: "550 5.1.1 No such user" };
  await world.elapse("1 min");
  expect(await sent()).toEqual([]);
  expect(await rows()).toMatchObject([{ status: "failed", message: null }]);
  expect((await getCopies(world.ctx, null)).faults).toEqual([expect.stringContaining("No such user")]);
  script = {};
  await arrive(path, bounce(path, "ben@example.net"));
  expect(await sent()).toHaveLength(1);
  expect((await getCopies(world.ctx, null)).faults).toEqual([]);
});

test("a relay that rejects the null sender gets the installation's address", async () => {
  const { path } = await send("ben@example.net");
  script = { mail: "501 Invalid MAIL FROM address provided" };
  await arrive(path, bounce(path, "ben@example.net"));
  expect((await sent()).map(({ from }) => from)).toEqual(["backstamp@mail.example.com"]);
});

test("of a storm of bounces 100 in an hour are copied, the last one says so, and replies are counted apart", async () => {
  const { id, path } = await send("ben@example.net");
  await world.hot`
    insert into return_copies (id, team_id, email_id, delivery_id, kind, message_hash, recipient, status, expires_at, ended_at)
    select uuid_v7(), ${world.id}, ${id}, ${newId()}, 'bounce', n::text, ${MAILBOX}, 'sent', now(), now()
    from generate_series(1, 99) n`;
  await arrive(path, bounce(path, "ben@example.net"));
  const [last] = await sent();
  expect(last?.text).toContain("This is copy 100 within an hour, the maximum.");
  expect(await arrive(path, bounce(path, "ben@example.net"))).toMatch(/^250/);
  expect(await sent()).toEqual([]);
  await arrive(path, reply(path, "Hi"), "ben@example.net");
  expect(await sent()).toHaveLength(1);
});

test("old rows, and those of deleted emails, are deleted", async () => {
  const { id, path } = await send("ben@example.net");
  await arrive(path, bounce(path, "ben@example.net"));
  await sent();
  await arrive(path, reply(path, "Hi"), "ben@example.net");
  await world.elapse("8 days");
  await deleteOldRecords(world.deps, () => true);
  expect(await rows()).toMatchObject([{ status: "queued", kind: "reply" }]);
  // Not after four days.
  expect(await sent()).toEqual([]);
  expect(await rows()).toMatchObject([{ status: "failed", message: null }]);
  await world.hot`delete from emails where id = ${id}`;
  expect(await rows()).toEqual([]);
});

test("an erasure deletes the copies that wait, an export has them, and a later bounce is not copied", async () => {
  const { path } = await send("ben@example.net");
  const { path: other } = await send("cy@example.net");
  await arrive(path, bounce(path, "ben@example.net"));
  await arrive(other, reply(other, "Ask ben@example.net"), "cy@example.net");
  await arrive(other, bounce(other, "cy@example.net"));
  let text = "";
  for await (const part of exportAddress(world.ctx, "ben@example.net")) text += part;
  const lines = text.trim().split("\n");
  const returned = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "returned_message");
  expect(returned).toMatchObject([{ kind: "bounce" }]);
  expect(Buffer.from(returned[0].content_base64, "base64").toString()).toContain("550 5.1.1 User unknown");

  await requestErasure(world.ctx, { address: "ben@example.net", suppresses: false });
  await runErasures(world.deps, () => true);
  expect(await arrive(path, bounce(path, "ben@example.net"))).toMatch(/^250/);
  const copies = (await sent()).map(({ fields }) => fields.Subject);
  expect(copies).toEqual(["Email to cy@example.net bounced: Your order"]);
});
