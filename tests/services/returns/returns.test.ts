import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "#server/ids";
import { receiveMessage } from "#server/services/returns/receive";
import { createTeam } from "#server/services/teams";
import { arf, dsn, failed, letter, RETURNED } from "../../mail/bounce/messages";
import { type House, openHouse } from "../../support/house";

const names = { mailHost: null, returnPathDomain: "bounces.example.com", webHost: null };
let house: House;
let count = 0;
beforeAll(async () => {
  house = await openHouse({ transportKind: "relay", names });
});
afterAll(() => house.close());

/** A mail that a relay took, with what its copy for the first recipient held. */
async function sent(options: { to?: string[] } = {}) {
  count += 1;
  const to = options.to ?? [`ben${count}@example.net`];
  const { id } = await house.send({ to });
  await house.hot`update deliveries set status = 'sent', attempts = 1 where email_id = ${id}`;
  await house.hot`update emails set status = 'sent' where id = ${id}`;
  const { deliveries } = await house.email(id);
  const [delivery] = deliveries;
  if (!delivery) throw new Error("a mail without recipients");
  const returnPath = `${house.deps.recipientTokens.returnPath(delivery.id)}@bounces.example.com`;
  return { id, address: delivery.address, messageId: `${id}@example.org`, returnPath };
}

let reports = 0;
const newReport = () => `report-${++reports}`;

const receive = (bytes: Uint8Array, recipient: string | null = null) =>
  receiveMessage(house.deps, { bytes, recipient });

const statusesOf = async (id: string) => {
  const { status, deliveries } = await house.email(id);
  return [status, ...deliveries.map((each) => each.status)];
};
const typesOf = async (id: string) => (await house.email(id)).events.map(({ type }) => type);
const listed = (address: string) =>
  house.hot<{ origin: string; source: string | null }[]>`
    select origin, source_email_id as source from suppressions where address = ${address}`;

const returned = (messageId: string, returnPath = "") =>
  RETURNED.replace(/^Message-ID: .*$/m, `Message-ID: <${messageId}>`)
    .replace(/^Return-Path: .*$/m, `Return-Path: <${returnPath}>`)
    .replace(/^List-Unsubscribe: .*\n/m, "");

const bounceOf = (
  mail: Awaited<ReturnType<typeof sent>>,
  said = "550 5.1.1 User unknown",
  id = newReport(),
) =>
  dsn({
    id,
    to: mail.returnPath,
    recipients: [failed(mail.address, said, "5.0.0")],
    returned: { text: returned(mail.messageId, mail.returnPath) },
  });

describe("a bounce that came to its return path", () => {
  test("makes the delivery bounced, with the reply and its reading, and suppresses an address that is dead", async () => {
    const mail = await sent();
    expect(await receive(bounceOf(mail), mail.returnPath)).toEqual({
      kind: "delivery",
      recorded: 1,
      ignored: [],
    });
    expect(await statusesOf(mail.id)).toEqual(["bounced", "bounced"]);
    const { deliveries, events } = await house.email(mail.id);
    expect(deliveries[0]).toMatchObject({
      lastCode: 550,
      lastEnhanced: "5.1.1",
      lastText: "User unknown",
      lastHost: "mx.example.net",
      lastReason: expect.stringContaining("there is no such mailbox"),
    });
    expect(events.at(-1)).toMatchObject({
      type: "email.bounced",
      recipient: mail.address,
      data: { class: "hard", reply: { code: 550, enhanced: "5.1.1", text: "User unknown" } },
    });
    expect(await listed(mail.address)).toEqual([{ origin: "bounce", source: mail.id }]);
  });

  test("twice is one event, by whatever ways it came", async () => {
    const mail = await sent();
    const bytes = bounceOf(mail);
    await receive(bytes, mail.returnPath);
    const before = await typesOf(mail.id);
    await house.hot`delete from suppressions`;
    const again = Buffer.concat([Buffer.from("Received: from a by b; later\r\n"), bytes]);
    expect(await receive(again)).toEqual({ kind: "delivery", recorded: 0, ignored: ["repeated"] });
    const both = await Promise.all([receive(bytes, mail.returnPath), receive(bytes)]);
    expect(both.map((each) => each?.ignored)).toEqual([["repeated"], ["repeated"]]);
    expect(await typesOf(mail.id)).toEqual(before);
    // What a person took off the list is not put back by it.
    expect(await listed(mail.address)).toEqual([]);
  });

  test("at once by several ways is one event", async () => {
    const mail = await sent();
    const bytes = bounceOf(mail);
    const all = await Promise.all(Array.from({ length: 8 }, () => receive(bytes, mail.returnPath)));
    expect(all.filter((each) => each?.recorded === 1)).toHaveLength(1);
    expect((await typesOf(mail.id)).filter((type) => type === "email.bounced")).toHaveLength(1);
  });

  test.each(["552 5.2.2 Mailbox full", "550 5.7.1 looks like spam", "550 User unknown", "451 4.4.7 expired"])(
    "that does not say the address is dead suppresses nobody: %s",
    async (said) => {
      const mail = await sent();
      expect(await receive(bounceOf(mail, said), mail.returnPath)).toMatchObject({ recorded: 1 });
      expect(await statusesOf(mail.id)).toEqual(["bounced", "bounced"]);
      expect(await listed(mail.address)).toEqual([]);
    },
  );

  test.each([
    ["", ""],
    [", by the name that we wrote to,", "Original-Recipient: rfc822; "],
  ])("of an address that it was passed on to%s suppresses nobody", async (_, original) => {
    const mail = await sent();
    const block = failed("inner@elsewhere.example", "550 5.1.1 gone");
    const bytes = dsn({
      recipients: [original === "" ? block : `${original}${mail.address}\n${block}`],
      id: newReport(),
    });
    expect(await receive(bytes, mail.returnPath)).toMatchObject({ recorded: 1 });
    expect(await statusesOf(mail.id)).toEqual(["bounced", "bounced"]);
    expect(await listed(mail.address)).toEqual([]);
    expect(await listed("inner@elsewhere.example")).toEqual([]);
  });

  test("touches no other recipient of the mail, nor another mail, whatever it says of them", async () => {
    const mail = await sent({ to: ["first@example.net", "second@example.net"] });
    const other = await sent();
    const recipients = ["first@example.net", "second@example.net", other.address].map((each) =>
      failed(each, "550 5.1.1 gone"),
    );
    const bytes = dsn({ recipients, id: newReport(), returned: { text: returned(other.messageId) } });
    expect(await receive(bytes, mail.returnPath)).toMatchObject({ recorded: 1 });
    expect(await statusesOf(mail.id)).toEqual(["bounced", "bounced", "sent"]);
    expect(await statusesOf(other.id)).toEqual(["sent", "sent"]);
    expect(await listed("second@example.net")).toEqual([]);
    expect(await listed("first@example.net")).toHaveLength(1);
  });

  test("is found by the token alone where it is a letter", async () => {
    const mail = await sent();
    const bytes = letter(
      `From: MAILER-DAEMON@mx.example.net\nX-Report: ${newReport()}\n`,
      `Hi. This is the qmail-send program at mx.example.net.\n\n<${mail.address}>:\nno mailbox here by that name. (#5.1.1)\n`,
    );
    expect(await receive(bytes, mail.returnPath)).toMatchObject({ recorded: 1 });
    expect(await listed(mail.address)).toHaveLength(1);
  });
});

describe("what is told by the webhooks", () => {
  test("stands in the outbox together with the event: the bounce, and the suppression", async () => {
    const url = "https://example.com/hook";
    await house.hot`
      insert into webhooks (id, team_id, url, events, secret)
      values (gen_random_uuid(), ${house.ctx.teamId}, ${url}, ${["email.bounced", "suppression.added"]}, 'x')`;
    const mail = await sent();
    await receive(bounceOf(mail), mail.returnPath);
    const told = await house.hot<{ type: string }[]>`select type from webhook_deliveries order by type`;
    expect(told.map(({ type }) => type)).toEqual(["email.bounced", "suppression.added"]);
    await house.hot`delete from webhooks`;
  });
});

describe("a report without a token", () => {
  test("is found by Message-ID and recipient, and never suppresses", async () => {
    const mail = await sent();
    const bytes = dsn({
      id: newReport(),
      to: "ann@example.org",
      recipients: [failed(mail.address.toUpperCase(), "550 5.1.1 gone")],
      returned: { text: returned(mail.messageId) },
    });
    expect(await receive(bytes)).toMatchObject({ recorded: 1 });
    expect(await statusesOf(mail.id)).toEqual(["bounced", "bounced"]);
    expect(await listed(mail.address)).toEqual([]);
  });

  test.each<[why: string, (mail: Awaited<ReturnType<typeof sent>>) => Promise<Buffer> | Buffer]>([
    [
      "for another recipient",
      (mail) =>
        dsn({
          recipients: [failed("else@example.net", "550 5.1.1")],
          returned: { text: returned(mail.messageId) },
        }),
    ],
    [
      "with another Message-ID of ours",
      (mail) =>
        dsn({
          recipients: [failed(mail.address, "550 5.1.1")],
          returned: { text: returned(mail.messageId.replace("example.org", "example.com")) },
        }),
    ],
    [
      "on a mail of eleven days ago",
      async (mail) => {
        await house.hot`update emails set created_at = now() - interval '11 days' where id = ${mail.id}`;
        return dsn({
          recipients: [failed(mail.address, "550 5.1.1")],
          returned: { text: returned(mail.messageId) },
        });
      },
    ],
    [
      "with a token that nobody made",
      (mail) =>
        forged(
          mail,
          mail.returnPath.replace(/-(.)/, (_, first) => (first === "a" ? "-b" : "-a")),
        ),
    ],
    ["with a token cut off", (mail) => forged(mail, mail.returnPath.slice(3))],
  ])("is ignored %s", async (_, make) => {
    const mail = await sent();
    const bytes = await make(mail);
    expect(await receive(bytes, "bounce-nonsense@bounces.example.com")).toMatchObject({
      recorded: 0,
      ignored: ["unknown"],
    });
    expect(await statusesOf(mail.id)).toEqual(["sent", "sent"]);
  });

  const forged = (mail: { address: string }, to: string) =>
    dsn({ to, recipients: [failed(mail.address, "550 5.1.1")], returned: { text: "Subject: x\n" } });
});

test("the team whose mail came back learns it, and no other that writes to the same address", async () => {
  const { id: teamId } = await createTeam(house.deps, { name: "Other" });
  const mail = await sent();
  const [row] = await house.hot<{ id: string }[]>`select id from deliveries where email_id = ${mail.id}`;
  const copy = newId();
  await house.hot`
    insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
    select ${copy}, ${teamId}, sender, sender_address, sender_domain, "to", subject, ${`${copy}@example.org`}, status
    from emails where id = ${mail.id}`;
  await house.hot`
    insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, attempts)
    select ${newId()}, ${teamId}, ${copy}, position, kind, address, domain, status, attempts
    from deliveries where id = ${row?.id ?? ""}`;
  await receive(bounceOf(mail), mail.returnPath);
  expect(await statusesOf(mail.id)).toEqual(["bounced", "bounced"]);
  const others = await house.hot`select status from deliveries where team_id = ${teamId}`;
  expect([...others]).toEqual([{ status: "sent" }]);
  const teams = await house.hot`select team_id as team from suppressions where address = ${mail.address}`;
  expect([...teams]).toEqual([{ team: house.ctx.teamId }]);
});

describe("a complaint", () => {
  const FIELDS = "Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1\n";

  test("makes the delivery complained and suppresses, though the address is hidden", async () => {
    const mail = await sent();
    const bytes = arf(`${FIELDS}Original-Mail-From: <${mail.returnPath}>\n`, returned(mail.messageId));
    expect(await receive(bytes)).toEqual({ kind: "complaint", recorded: 1, ignored: [] });
    expect(await statusesOf(mail.id)).toEqual(["complained", "complained"]);
    expect((await typesOf(mail.id)).at(-1)).toBe("email.complained");
    expect(await listed(mail.address)).toEqual([{ origin: "complaint", source: mail.id }]);
  });

  test("is found by the link to unsubscribe, where that is all that is left", async () => {
    const mail = await sent();
    const { teamId } = house.ctx;
    const link = house.deps.recipientTokens.unsubscribeLink({
      teamId,
      emailId: mail.id,
      address: mail.address,
    });
    const bytes = arf(FIELDS, `List-Unsubscribe: <mailto:a@example.org>, <${link}>\nSubject: Hello\n`);
    expect(await receive(bytes)).toMatchObject({ recorded: 1 });
    expect(await listed(mail.address)).toEqual([{ origin: "complaint", source: mail.id }]);
  });

  test("by Message-ID and recipient counts, and suppresses nobody", async () => {
    const mail = await sent();
    const bytes = arf(`${FIELDS}Original-Rcpt-To: ${mail.address}\n`, returned(mail.messageId));
    expect(await receive(bytes)).toMatchObject({ recorded: 1 });
    expect(await statusesOf(mail.id)).toEqual(["complained", "complained"]);
    expect(await listed(mail.address)).toEqual([]);
  });

  test.each(["not-spam", "auth-failure", "virus", "whatever"])("is none of the type %s", async (type) => {
    const mail = await sent();
    const fields = FIELDS.replace("abuse", type);
    expect(await receive(arf(fields, returned(mail.messageId, mail.returnPath)))).toMatchObject({
      recorded: 0,
      ignored: ["no_complaint"],
    });
  });
});

describe("what is no bounce", () => {
  test("changes nothing: automatic replies, letters, and reports of success by others", async () => {
    const mail = await sent();
    const absent = letter("From: ben@example.net\nAuto-Submitted: auto-replied\n", "I am away.\n");
    expect(await receive(absent, mail.returnPath)).toMatchObject({ ignored: ["auto_reply"] });
    const person = letter("From: ben@example.net\n", "550 5.1.1 is what I got\n");
    expect(await receive(person, mail.returnPath)).toMatchObject({ ignored: ["no_report"] });
    const block = `Final-Recipient: rfc822; ${mail.address}\nAction: relayed\nStatus: 2.0.0\n`;
    expect(await receive(dsn({ recipients: [block] }), mail.returnPath)).toMatchObject({
      ignored: ["no_failure"],
    });
    expect(await receive(dsn({ recipients: [] }), mail.returnPath)).toMatchObject({
      ignored: ["no_failure"],
    });
    expect(await statusesOf(mail.id)).toEqual(["sent", "sent"]);
    expect(await receive(Buffer.from("nothing"), mail.returnPath)).toBeNull();
  });

  test("a delay is an event, and the mail stays sent", async () => {
    const mail = await sent();
    const block = `Final-Recipient: rfc822; ${mail.address}\nAction: delayed\nStatus: 4.4.1\nDiagnostic-Code: smtp; 451 4.4.1 no answer\n`;
    expect(await receive(dsn({ recipients: [block], id: newReport() }), mail.returnPath)).toMatchObject({
      recorded: 1,
    });
    expect(await statusesOf(mail.id)).toEqual(["sent", "sent"]);
    expect((await typesOf(mail.id)).at(-1)).toBe("email.delivery_delayed");
  });

  test.each(["scheduled", "canceled", "suppressed", "queued"])(
    "of a mail that is %s nobody can know anything",
    async (status) => {
      const mail = await sent();
      await house.hot`update deliveries set status = ${status}, attempts = 0 where email_id = ${mail.id}`;
      expect(await receive(bounceOf(mail), mail.returnPath)).toMatchObject({ ignored: ["impossible"] });
      expect(await listed(mail.address)).toEqual([]);
    },
  );
});
