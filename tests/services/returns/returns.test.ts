import { describe, expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { receiveMessage } from "#server/services/returns/receive";
import { createTeam } from "#server/services/teams";
import { arf, dsn, failed, letter, RETURNED } from "../../mail/bounce/messages";
import { forAllTests } from "../../support/fixtures";
import { createWorld } from "../../support/world";

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
const world = forAllTests(() => createWorld({ transportKind: "relay", names }));
let count = 0;

/** An email that was sent through a relay, with the tokens in its first recipient's copy. */
async function sent(options: { to?: string[] } = {}) {
  count += 1;
  const to = options.to ?? [`ben${count}@example.net`];
  const { id } = await world.send({ to });
  await world.hot`update deliveries set status = 'sent', attempts = 1 where email_id = ${id}`;
  await world.hot`update emails set status = 'sent' where id = ${id}`;
  const { deliveries } = await world.email(id);
  const [delivery] = deliveries;
  if (!delivery) throw new Error("an email without recipients");
  const returnPath = `${world.deps.recipientTokens.returnPath(delivery.id)}@bounces.example.com`;
  return { id, address: delivery.address, messageId: `${id}@example.org`, returnPath };
}

let reports = 0;
const newReport = () => `report-${++reports}`;

const receive = (bytes: Uint8Array, recipient: string | null = null) =>
  receiveMessage(world.deps, { bytes, recipients: recipient === null ? [] : [recipient] });

const statusesOf = async (id: string) => {
  const { status, deliveries } = await world.email(id);
  return [status, ...deliveries.map((each) => each.status)];
};
const typesOf = async (id: string) => (await world.email(id)).events.map(({ type }) => type);
const listed = (address: string) =>
  world.hot<{ origin: string; source: string | null }[]>`
    select origin, source_email_id as source from suppressions where address = ${address}`;

const returned = (messageId: string, returnPath = "") =>
  RETURNED.replace(/^Message-ID: .*$/m, `Message-ID: <${messageId}>`)
    .replace(/^Return-Path: .*$/m, `Return-Path: <${returnPath}>`)
    .replace(/^List-Unsubscribe: .*\n/m, "");

const bounceOf = (
  email: Awaited<ReturnType<typeof sent>>,
  reply = "550 5.1.1 User unknown",
  id = newReport(),
) =>
  dsn({
    id,
    to: email.returnPath,
    recipients: [failed(email.address, reply, "5.0.0")],
    returned: { text: returned(email.messageId, email.returnPath) },
  });

describe("a bounce to its return path", () => {
  test("sets the delivery to bounced, with the reply and its classification, and suppresses a dead address", async () => {
    const email = await sent();
    expect(await receive(bounceOf(email), email.returnPath)).toEqual({
      kind: "delivery",
      recorded: 1,
      ignored: [],
    });
    expect(await statusesOf(email.id)).toEqual(["bounced", "bounced"]);
    const { deliveries, events } = await world.email(email.id);
    expect(deliveries[0]).toMatchObject({
      lastCode: 550,
      lastEnhanced: "5.1.1",
      lastText: "User unknown",
      lastHost: "mx.example.net",
      lastReason: expect.stringContaining("the mailbox does not exist"),
    });
    expect(events.at(-1)).toMatchObject({
      type: "email.bounced",
      recipient: email.address,
      data: { class: "hard", reply: { code: 550, enhanced: "5.1.1", text: "User unknown" } },
    });
    expect(await listed(email.address)).toEqual([{ origin: "bounce", source: email.id }]);
  });

  test("received twice, on different paths, is one event", async () => {
    const email = await sent();
    const bytes = bounceOf(email);
    await receive(bytes, email.returnPath);
    const before = await typesOf(email.id);
    await world.hot`delete from suppressions`;
    const again = Buffer.concat([Buffer.from("Received: from a by b; later\r\n"), bytes]);
    expect(await receive(again)).toEqual({ kind: "delivery", recorded: 0, ignored: ["repeated"] });
    const both = await Promise.all([receive(bytes, email.returnPath), receive(bytes)]);
    expect(both.map((each) => each?.ignored)).toEqual([["repeated"], ["repeated"]]);
    expect(await typesOf(email.id)).toEqual(before);
    // The report does not add the address again after a member removed it from the list.
    expect(await listed(email.address)).toEqual([]);
  });

  test("received several times concurrently is one event", async () => {
    const email = await sent();
    const bytes = bounceOf(email);
    const all = await Promise.all(Array.from({ length: 8 }, () => receive(bytes, email.returnPath)));
    expect(all.filter((each) => each?.recorded === 1)).toHaveLength(1);
    expect((await typesOf(email.id)).filter((type) => type === "email.bounced")).toHaveLength(1);
  });

  test.each([
    "552 5.2.2 Mailbox full",
    "550 5.7.1 looks like spam",
    "550 Address rejected",
    "451 4.4.7 expired",
  ])("that does not say that the address is dead suppresses nothing: %s", async (reply) => {
    const email = await sent();
    expect(await receive(bounceOf(email, reply), email.returnPath)).toMatchObject({ recorded: 1 });
    expect(await statusesOf(email.id)).toEqual(["bounced", "bounced"]);
    expect(await listed(email.address)).toEqual([]);
  });

  test.each([
    ["", ""],
    [", named by the original address,", "Original-Recipient: rfc822; "],
  ])("of an address that it was forwarded to%s suppresses nothing", async (_, original) => {
    const email = await sent();
    const block = failed("inner@elsewhere.example", "550 5.1.1 gone");
    const bytes = dsn({
      recipients: [original === "" ? block : `${original}${email.address}\n${block}`],
      id: newReport(),
    });
    expect(await receive(bytes, email.returnPath)).toMatchObject({ recorded: 1 });
    expect(await statusesOf(email.id)).toEqual(["bounced", "bounced"]);
    expect(await listed(email.address)).toEqual([]);
    expect(await listed("inner@elsewhere.example")).toEqual([]);
  });

  test("changes no other recipient of the email and no other email, even if it names them", async () => {
    const email = await sent({ to: ["first@example.net", "second@example.net"] });
    const other = await sent();
    const recipients = ["first@example.net", "second@example.net", other.address].map((each) =>
      failed(each, "550 5.1.1 gone"),
    );
    const bytes = dsn({ recipients, id: newReport(), returned: { text: returned(other.messageId) } });
    expect(await receive(bytes, email.returnPath)).toMatchObject({ recorded: 1 });
    expect(await statusesOf(email.id)).toEqual(["bounced", "bounced", "sent"]);
    expect(await statusesOf(other.id)).toEqual(["sent", "sent"]);
    expect(await listed("second@example.net")).toEqual([]);
    expect(await listed("first@example.net")).toHaveLength(1);
  });

  test("is found by its token even if it is plain text instead of a DSN", async () => {
    const email = await sent();
    const bytes = letter(
      `From: MAILER-DAEMON@mx.example.net\nX-Report: ${newReport()}\n`,
      `Hi. This is the qmail-send program at mx.example.net.\n\n<${email.address}>:\nno mailbox here by that name. (#5.1.1)\n`,
    );
    expect(await receive(bytes, email.returnPath)).toMatchObject({ recorded: 1 });
    expect(await listed(email.address)).toHaveLength(1);
  });
});

describe("the webhooks", () => {
  test("are in the outbox together with the event: the bounce, and the suppression", async () => {
    const url = "https://example.com/hook";
    await world.hot`
      insert into webhooks (id, team_id, url, events, secret)
      values (gen_random_uuid(), ${world.ctx.teamId}, ${url}, ${["email.bounced", "suppression.added"]}, 'x')`;
    const email = await sent();
    await receive(bounceOf(email), email.returnPath);
    const queued = await world.hot<{ type: string }[]>`select type from webhook_deliveries order by type`;
    expect(queued.map(({ type }) => type)).toEqual(["email.bounced", "suppression.added"]);
    await world.hot`delete from webhooks`;
  });
});

describe("a report without a token", () => {
  test("is found by Message-ID and recipient, and never suppresses", async () => {
    const email = await sent();
    const bytes = dsn({
      id: newReport(),
      to: "ann@example.org",
      recipients: [failed(email.address.toUpperCase(), "550 5.1.1 gone")],
      returned: { text: returned(email.messageId) },
    });
    expect(await receive(bytes)).toMatchObject({ recorded: 1 });
    expect(await statusesOf(email.id)).toEqual(["bounced", "bounced"]);
    expect(await listed(email.address)).toEqual([]);
  });

  test.each<[why: string, (email: Awaited<ReturnType<typeof sent>>) => Promise<Buffer> | Buffer]>([
    [
      "for another recipient",
      (email) =>
        dsn({
          recipients: [failed("else@example.net", "550 5.1.1")],
          returned: { text: returned(email.messageId) },
        }),
    ],
    [
      "with another Message-ID of ours",
      (email) =>
        dsn({
          recipients: [failed(email.address, "550 5.1.1")],
          returned: { text: returned(email.messageId.replace("example.org", "example.com")) },
        }),
    ],
    [
      "about an email from eleven days ago",
      async (email) => {
        await world.hot`update emails set created_at = now() - interval '11 days' where id = ${email.id}`;
        return dsn({
          recipients: [failed(email.address, "550 5.1.1")],
          returned: { text: returned(email.messageId) },
        });
      },
    ],
    [
      "with a forged token",
      (email) =>
        forged(
          email,
          email.returnPath.replace(/-(.)/, (_, first) => (first === "a" ? "-b" : "-a")),
        ),
    ],
    ["with a truncated token", (email) => forged(email, email.returnPath.slice(3))],
  ])("is ignored %s", async (_, make) => {
    const email = await sent();
    const bytes = await make(email);
    expect(await receive(bytes, "bounce-nonsense@bounces.example.com")).toMatchObject({
      recorded: 0,
      ignored: ["unknown"],
    });
    expect(await statusesOf(email.id)).toEqual(["sent", "sent"]);
  });

  const forged = (email: { address: string }, to: string) =>
    dsn({ to, recipients: [failed(email.address, "550 5.1.1")], returned: { text: "Subject: x\n" } });
});

test("a bounce changes only the sending team's data, not that of another team with the same recipient", async () => {
  const { id: teamId } = await createTeam(world.deps, { name: "Other" });
  const email = await sent();
  const [row] = await world.hot<{ id: string }[]>`select id from deliveries where email_id = ${email.id}`;
  const copy = newId();
  await world.hot`
    insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
    select ${copy}, ${teamId}, sender, sender_address, sender_domain, "to", subject, ${`${copy}@example.org`}, status
    from emails where id = ${email.id}`;
  await world.hot`
    insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, attempts)
    select ${newId()}, ${teamId}, ${copy}, position, kind, address, domain, status, attempts
    from deliveries where id = ${row?.id ?? ""}`;
  await receive(bounceOf(email), email.returnPath);
  expect(await statusesOf(email.id)).toEqual(["bounced", "bounced"]);
  const others = await world.hot`select status from deliveries where team_id = ${teamId}`;
  expect([...others]).toEqual([{ status: "sent" }]);
  const teams = await world.hot`select team_id as team from suppressions where address = ${email.address}`;
  expect([...teams]).toEqual([{ team: world.ctx.teamId }]);
});

describe("a complaint", () => {
  const FIELDS = "Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1\n";

  test("sets the delivery to complained and suppresses the address, even if the report hides it", async () => {
    const email = await sent();
    const bytes = arf(`${FIELDS}Original-Mail-From: <${email.returnPath}>\n`, returned(email.messageId));
    expect(await receive(bytes)).toEqual({ kind: "complaint", recorded: 1, ignored: [] });
    expect(await statusesOf(email.id)).toEqual(["complained", "complained"]);
    expect((await typesOf(email.id)).at(-1)).toBe("email.complained");
    expect(await listed(email.address)).toEqual([{ origin: "complaint", source: email.id }]);
  });

  test("is found by the unsubscribe link if nothing else remains", async () => {
    const email = await sent();
    const { teamId } = world.ctx;
    const link = world.deps.recipientTokens.unsubscribeLink({
      teamId,
      emailId: email.id,
      address: email.address,
    });
    const bytes = arf(FIELDS, `List-Unsubscribe: <mailto:a@example.org>, <${link}>\nSubject: Hello\n`);
    expect(await receive(bytes)).toMatchObject({ recorded: 1 });
    expect(await listed(email.address)).toEqual([{ origin: "complaint", source: email.id }]);
  });

  test("that only names the Message-ID and the recipient is ignored", async () => {
    const email = await sent();
    const bytes = arf(`${FIELDS}Original-Rcpt-To: ${email.address}\n`, returned(email.messageId));
    expect(await receive(bytes)).toMatchObject({ recorded: 0, ignored: ["unproven"] });
    expect(await statusesOf(email.id)).toEqual(["sent", "sent"]);
    expect(await listed(email.address)).toEqual([]);
  });

  test.each(["not-spam", "auth-failure", "virus", "whatever"])("of the type %s is ignored", async (type) => {
    const email = await sent();
    const fields = FIELDS.replace("abuse", type);
    expect(await receive(arf(fields, returned(email.messageId, email.returnPath)))).toMatchObject({
      recorded: 0,
      ignored: ["no_complaint"],
    });
  });
});

describe("other messages", () => {
  test("personal replies, relay reports, and automatic replies to no delivery change nothing", async () => {
    const email = await sent();
    const autoReply = letter("From: ben@example.net\nAuto-Submitted: auto-replied\n", "I am away.\n");
    expect(await receive(autoReply, "bounce-token@bounces.example.com")).toMatchObject({
      ignored: ["auto_reply"],
    });
    const personalReply = letter("From: ben@example.net\n", "550 5.1.1 is what I got\n");
    expect(await receive(personalReply, email.returnPath)).toMatchObject({ ignored: ["no_report"] });
    const block = `Final-Recipient: rfc822; ${email.address}\nAction: relayed\nStatus: 2.0.0\n`;
    expect(await receive(dsn({ recipients: [block] }), email.returnPath)).toMatchObject({
      ignored: ["no_failure"],
    });
    expect(await statusesOf(email.id)).toEqual(["sent", "sent"]);
    expect(await receive(Buffer.from("nothing"), email.returnPath)).toBeNull();
  });

  test("a delay is recorded as an event, and the email stays sent", async () => {
    const email = await sent();
    const block = `Final-Recipient: rfc822; ${email.address}\nAction: delayed\nStatus: 4.4.1\nDiagnostic-Code: smtp; 451 4.4.1 no answer\n`;
    expect(await receive(dsn({ recipients: [block], id: newReport() }), email.returnPath)).toMatchObject({
      recorded: 1,
    });
    expect(await statusesOf(email.id)).toEqual(["sent", "sent"]);
    expect((await typesOf(email.id)).at(-1)).toBe("email.delivery_delayed");
  });

  test.each(["scheduled", "canceled", "suppressed", "queued"])(
    "a bounce of an email that is %s changes nothing",
    async (status) => {
      const email = await sent();
      await world.hot`update deliveries set status = ${status}, attempts = 0 where email_id = ${email.id}`;
      expect(await receive(bounceOf(email), email.returnPath)).toMatchObject({ ignored: ["impossible"] });
      expect(await listed(email.address)).toEqual([]);
    },
  );
});
