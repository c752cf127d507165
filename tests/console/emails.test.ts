import { beforeEach, describe, expect, test } from "vitest";
import { answerEmailExport, answerFile, answerSource } from "#server/trpc/emails/files";
import { type Console, openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";
import { queueMany } from "../support/database/queue-many";
import { setStatus as putInto } from "../support/set-status";

let ann: RoleTeam;
let ben: RoleTeam;
let nth = 0;
const console = await openConsole();
beforeEach(async () => {
  ann = await createRoleTeam(console, `Ann's ${++nth}`);
  ben = await createRoleTeam(console, `Ben's ${nth}`);
});

const call = (procedure: string, input: object) => ann.data("member", procedure, input);
const callerOf = async (party: RoleTeam) => console.callerOf(await party.cookies("member"));
const send = async (mail: Parameters<Console["world"]["send"]>[0] = {}, by = ann) =>
  (
    await console.world.send(
      { sender: "ann@backstamp.test", to: ["delivered@backstamp.test"], ...mail },
      by.ctx,
    )
  ).id;
const setStatus = (id: string, status: string) => putInto(console.world.hot, id, status);
const auditOf = async (party = ann) =>
  (await party.audit({ action: "email." })).map(({ action, subjectId, actor, detail }) => ({
    ...{ action, subjectId, actor, detail },
  }));

describe("actions on email apply once, only to this team's email, and are audited with their actor", () => {
  test("a retry applies to the named recipients", async () => {
    const id = await send({ to: ["bounced@backstamp.test", "bounced+two@backstamp.test"] });
    await setStatus(id, "bounced");
    const one = await call("emails.retry", {
      id,
      acceptDuplicates: false,
      recipients: ["Bounced+TWO@backstamp.test"],
    });
    expect(one).toEqual({ mails: 1, recipients: 1 });
    const rows = await console.world
      .hot`select address, status from deliveries where email_id = ${id} order by position`;
    expect(rows.map(({ status }) => status)).toEqual(["bounced", "queued"]);
    expect(await auditOf()).toContainEqual({
      action: "email.retried",
      subjectId: id,
      actor: "user",
      detail: { recipients: 1, acceptDuplicates: false },
    });
    const stranger = { id, acceptDuplicates: false, recipients: ["nobody@backstamp.test"] };
    expect(await ann.call("member", "emails.retry", stranger)).toMatchObject({ ok: false, code: "CONFLICT" });
  });

  test("a bulk retry skips email that cannot be retried and email of other teams", async () => {
    const failed = await send();
    await setStatus(failed, "failed");
    const delivered = await send();
    await setStatus(delivered, "delivered");
    const unknown = await send();
    await setStatus(unknown, "unknown");
    const foreign = await send({}, ben);
    await setStatus(foreign, "failed");
    const ids = [failed, delivered, unknown, foreign];
    expect(await call("emails.retrySelected", { ids, acceptDuplicates: false })).toEqual({
      mails: 1,
      recipients: 1,
    });
    const [row] = await console.world.hot`select status from emails where id = ${foreign}`;
    expect(row?.status).toBe("failed");
    expect((await auditOf()).map(({ action }) => action)).toEqual(["email.retried"]);
    expect(await auditOf(ben)).toEqual([]);
  });

  test("scheduled email can be rescheduled in words and canceled; email in progress stays and is reported", async () => {
    const id = await send({ scheduledAt: "in 2 hours" });
    for (const [text, fault] of [
      ["2027-02-30T10:00:00Z", "2027-02-30 is not a valid date"],
      ["2027-02-27", "needs a time"],
      ["the other day", "not a valid time"],
    ] as const) {
      expect(await ann.call("member", "emails.reschedule", { id, at: text })).toMatchObject({
        message: expect.stringContaining(fault),
      });
    }
    await call("emails.reschedule", { id, at: "in 3 hours" });
    const [other, sending] = [await send({ scheduledAt: "in 2 hours" }), await send()];
    const answer = await call("emails.cancelSelected", { ids: [id, other, sending] });
    expect(answer).toEqual({
      canceled: [id, other],
      refused: [{ id: sending, why: expect.stringContaining("Only a scheduled email") }],
    });
    expect(await auditOf()).toMatchObject([
      { action: "email.rescheduled", subjectId: id },
      { action: "email.canceled_many", subjectId: null, detail: { mails: 2 } },
    ]);
  });
});

describe("one email", () => {
  test("explains its status codes, shows who sent it, and what delays it", async () => {
    const id = await send({ to: ["bounced@backstamp.test"], tags: [{ name: "kind", value: "shop" }] });
    await console.deliver();
    const email = await (await callerOf(ann)).emails.get({ team: ann.teamId, id });
    expect(email.recipients[0]).toMatchObject({
      status: "bounced",
      meaning: expect.stringMatching(/^The mailbox does not exist\. Permanent failure/),
    });
    expect(email.events.at(-1)).toMatchObject({
      type: "email.bounced",
      meaning: expect.stringMatching(/mailbox does not exist/),
    });
    expect(email).toMatchObject({ delays: { cap: null, relays: [] }, files: [], template_id: null });
  });

  test("shows the usage of a daily cap, and the paused relay", async () => {
    const { hot } = console.world;
    const { teamId } = console.world.ctx;
    const { id } = await console.world.send();
    await hot`update domains set daily_cap = 5 where team_id = ${teamId} and name = 'example.org'`;
    await hot`insert into sending_days (team_id, domain, day, handed_over)
              values (${teamId}, 'example.org', (now() at time zone 'utc')::date, 5)`;
    await hot`update deliveries set wait_rule = 'daily_cap', due_at = now() + interval '1 hour' where email_id = ${id}`;
    const person = await console.person({ teamId, role: "viewer" });
    const caller = await console.callerAs(person.id);
    const capped = await caller.emails.get({ team: teamId, id });
    expect(capped.delays.cap).toEqual({ of: "example.org", allowed: 5, handedOver: 5 });
    expect(capped.recipients[0]).toMatchObject({ rule: "daily_cap", next_attempt_at: expect.any(String) });
    await hot`insert into relays (id, name, url, host, paused_until, last_fault)
              values (gen_random_uuid(), 'main', 'sealed', 'smtp.example.net:587', now() + interval '1 minute', 'The login was refused.')`;
    await hot`update deliveries set wait_rule = 'relay_paused' where email_id = ${id}`;
    const paused = await caller.emails.get({ team: teamId, id });
    expect(paused.delays).toEqual({
      cap: null,
      relays: [
        { name: "main", reason: null, nextAttemptAt: expect.any(String), fault: "The login was refused." },
      ],
    });
    await hot`delete from relays`;
  });

  test("shows the API call that would send it again, with attachments by name", async () => {
    const id = await send({
      subject: 'It\'s $HOME `now` "quoted"',
      tags: [{ name: "kind", value: "shop" }],
      headers: [{ name: "X-Order", value: "10493" }],
      text: "",
      attachments: [
        {
          source: { content: Buffer.from("secret bytes") },
          filename: "a.txt",
          contentType: null,
          contentId: null,
        },
      ],
    });
    const { command } = await (await callerOf(ann)).emails.asCall({ team: ann.teamId, id });
    expect(command).toContain("https://mail.example.org/api/emails");
    expect(command).toMatch(/\$BACKSTAMP_KEY/);
    const body = JSON.parse(command.split("<<'MAIL'\n")[1]?.split("\nMAIL")[0] ?? "");
    expect(body).toEqual({
      from: "ann@backstamp.test",
      to: ["delivered@backstamp.test"],
      subject: 'It\'s $HOME `now` "quoted"',
      html: "<p>Hello</p>",
      text: "",
      headers: { "X-Order": "10493" },
      tags: [{ name: "kind", value: "shop" }],
      attachments: [{ filename: "a.txt", content_type: "text/plain", content: "<a.txt in base64>" }],
    });
    expect(command).not.toContain(Buffer.from("secret bytes").toString("base64"));
  });
});

describe("files", () => {
  test("an email is downloaded as a file, also with a name that is now too long", async () => {
    const id = await send({ subject: "As a file", sender: "Ж <ann@backstamp.test>" });
    await console.world.hot`update emails set sender = repeat('Ж', 900) || sender where id = ${id}`;
    const wanted = { cookies: await ann.cookies("member"), team: ann.teamId };
    const file = await answerSource(console.deps, wanted, id);
    expect(file.status).toBe(200);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "message/rfc822",
      "content-disposition": `attachment; filename="${id}.eml"`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
    });
    const text = await file.text();
    expect(text).toMatch(/^Subject: As a file\r$/m);
    expect(text).toContain(`Message-ID: <${id}@backstamp.test>`);
  });

  test("an attachment is never rendered as a page, whatever its content type", async () => {
    const id = await send({
      attachments: [
        {
          source: { content: Buffer.from("<script>alert(1)</script>") },
          filename: 'in"voice\u202e.html',
          contentType: "text/html",
          contentId: null,
        },
      ],
    });
    const { files } = await (await callerOf(ann)).emails.get({ team: ann.teamId, id });
    const place = { emailId: id, id: files[0]?.id ?? "" };
    const file = await answerFile(
      console.deps,
      { cookies: await ann.cookies("member"), team: ann.teamId },
      place,
    );
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": expect.stringMatching(/^attachment; filename="in_voice_\.html"/),
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
    expect(await file.text()).toBe("<script>alert(1)</script>");
  });

  test("the CSV export contains all pages that match the filters, and no formula cell", async () => {
    for (let n = 0; n < 3; n++) await send({ subject: `Plain, "quoted" ${n}` });
    const id = await send({ subject: "=cmd|'/c calc'!A1", tags: [{ name: "kind", value: "evil" }] });
    await send({ subject: "Theirs" }, ben);
    const wanted = { cookies: await ann.cookies("member"), team: ann.teamId };
    const whole = await answerEmailExport(console.deps, wanted, {});
    expect(whole.headers.get("content-disposition")).toMatch(
      /^attachment; filename="emails-[\d-]{10}\.csv"$/,
    );
    const lines = (await whole.text()).trim().split("\r\n");
    expect(lines[0]).toBe("id,created_at,status,from,to,cc,bcc,subject,tags,key,scheduled_at,message_id");
    expect(lines).toHaveLength(5);
    expect(lines[1]).toContain(`${id},`);
    expect(lines[1]).toContain("'=cmd|'/c calc'!A1");
    expect(lines[2]).toContain('"Plain, ""quoted"" 2"');
    const narrowed = await answerEmailExport(console.deps, wanted, { search: "tag:kind=evil" });
    expect((await narrowed.text()).trim().split("\r\n")).toHaveLength(2);
    const wrong = await answerEmailExport(console.deps, wanted, { status: "lost" });
    expect(wrong.status).toBe(422);
  });

  test("an export longer than one batch contains each email once, newest first", async () => {
    await queueMany(console.world.hot, { teamId: ann.teamId, domain: "example.org", count: 1_001 });
    const wanted = { cookies: await ann.cookies("member"), team: ann.teamId };
    const whole = await answerEmailExport(console.deps, wanted, {});
    const [, ...lines] = (await whole.text()).trim().split("\r\n");
    const ids = lines.map((line) => line.split(",", 1)[0]);
    const rows = await console.world
      .hot`select id from emails where team_id = ${ann.teamId} order by id desc`;
    expect(ids).toEqual(rows.map(({ id }) => id));
    expect(ids).toHaveLength(1_001);
  });
});
