import { beforeEach, describe, expect, test } from "vitest";
import { applyRetention } from "#server/delivery/housekeeping/retention";
import { newId } from "#server/platform/ids";
import { retryEmail } from "#server/services/emails/change/retry";
import { listFiles } from "#server/services/emails/read/files";
import { getSource } from "#server/services/emails/read/source";
import { getRetention, setRetention } from "#server/services/retention";
import { createTeam } from "#server/services/teams";
import { countEvents } from "../support/count-events";
import { forEachTest } from "../support/fixtures";
import { deliverDue } from "../support/pump-engine";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());
beforeEach(async () => {
  // As a team of release 0.2.0.
  await world.hot`delete from retention`;
});

const TABLES = [
  "attachments",
  "captured_messages",
  "deliveries",
  "email_bodies",
  "email_events",
  "webhook_deliveries",
];

/** Moves an email and the time in its id this many days into the past. */
async function age(id: string, days: number): Promise<string> {
  const old = newId();
  const [row] = await world.hot<{ id: string }[]>`
    select (lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0')
      || substring(replace(${old}::text, '-', '') from 13))::uuid as id`;
  const oldId = row?.id ?? "";
  await world.hot.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`
      update emails set id = ${oldId}, created_at = created_at - ${days} * interval '1 day' where id = ${id}`;
    for (const table of TABLES) await tx`update ${tx(table)} set email_id = ${oldId} where email_id = ${id}`;
    await tx`
      update deliveries set updated_at = updated_at - ${days} * interval '1 day' where email_id = ${oldId}`;
  });
  return oldId;
}

/** An old email with an attachment and a delivery in this status. */
async function oldEmail(status: string, days: number): Promise<string> {
  const content = Buffer.from("file");
  const { id } = await world.send({
    to: ["delivered@backstamp.test"],
    attachments: [{ filename: "a.txt", contentType: "text/plain", contentId: null, source: { content } }],
  });
  await world.hot`update deliveries set status = ${status}, attempts = 1 where email_id = ${id}`;
  await world.hot`update emails set status = ${status} where id = ${id}`;
  return age(id, days);
}

const keep = (bodiesDays: number | null, emailsDays: number | null = null) =>
  setRetention(world.ctx, { bodiesDays, emailsDays });
const run = () => applyRetention(world.withTransport(null), () => true);
const rowsOf = async (id: string) => {
  const count = async (table: string) => {
    const [row] = await world.hot<{ n: number }[]>`
      select count(*)::int as n from ${world.hot(table)} where email_id = ${id}`;
    return row?.n ?? 0;
  };
  return Object.fromEntries(await Promise.all(TABLES.map(async (table) => [table, await count(table)])));
};
const exists = async (id: string) => (await world.hot`select from emails where id = ${id}`).length === 1;

describe("content of old emails", () => {
  test("is erased with the attachments; the email, its recipients and events remain", async () => {
    const { id: captured } = await world.send({ to: ["ben@example.net"] });
    await deliverDue(world.withTransport());
    const kept = await age(captured, 40);
    const id = await oldEmail("delivered", 31);
    const before = await rowsOf(id);
    await keep(30);
    await run();
    expect(await rowsOf(id)).toEqual({ ...before, attachments: 0, email_bodies: 0, captured_messages: 0 });
    expect(await rowsOf(kept)).toMatchObject({ email_bodies: 0, captured_messages: 0, deliveries: 1 });
    const email = await world.email(id);
    expect(email).toMatchObject({ isErased: true, html: null, text: null, subject: "Hello" });
    expect(email.deliveries).toHaveLength(1);
    expect(email.events.length).toBeGreaterThan(0);
    expect((await listFiles(world.ctx, id, { limit: 10 })).rows).toEqual([]);
  });

  test("remains while a delivery is scheduled, queued or sending, or its outcome is unknown", async () => {
    const ids: string[] = [];
    for (const status of ["scheduled", "queued", "sending", "unknown"]) ids.push(await oldEmail(status, 400));
    await keep(1, 1);
    await countEvents(world.withTransport(null));
    await run();
    for (const id of ids)
      expect(await world.email(id)).toMatchObject({ isErased: false, html: "<p>Hello</p>" });
  });

  test("to several recipients remains until the last delivery is terminal", async () => {
    const { id: fresh } = await world.send({ to: ["ann@example.net", "ben@example.net"] });
    await world.hot`
      update deliveries set status = case position when 0 then 'delivered' else 'unknown' end where email_id = ${fresh}`;
    const id = await age(fresh, 90);
    await keep(1, 1);
    await run();
    expect(await world.email(id)).toMatchObject({ isErased: false });
    await world.hot`update deliveries set status = 'bounced' where email_id = ${id} and status = 'unknown'`;
    await world.hot`update retention set next_at = now()`;
    await run();
    expect(await world.email(id)).toMatchObject({ isErased: true });
  });

  test("of a sent email remains for 14 days, because a bounce can arrive", async () => {
    const recent = await oldEmail("sent", 13);
    const old = await oldEmail("sent", 15);
    await keep(1);
    await run();
    expect((await world.email(recent)).isErased).toBe(false);
    expect((await world.email(old)).isErased).toBe(true);
  });

  test("is erased after any end of the delivery; content one day younger than the period remains", async () => {
    const ends = ["delivered", "bounced", "complained", "failed", "suppressed", "canceled"];
    const [old, recent]: [string[], string[]] = [[], []];
    for (const status of ends) {
      old.push(await oldEmail(status, 8));
      recent.push(await oldEmail(status, 6));
    }
    await keep(7);
    await run();
    for (const id of old) expect((await world.email(id)).isErased).toBe(true);
    for (const id of recent) expect((await world.email(id)).isErased).toBe(false);
  });

  test("remains without a retention rule, and in other teams", async () => {
    const id = await oldEmail("delivered", 4_000);
    await run();
    const other = await createTeam(world.deps, { name: "Other" });
    await setRetention({ ...world.ctx, teamId: other.id }, { bodiesDays: 1, emailsDays: 1 });
    await run();
    expect((await world.email(id)).isErased).toBe(false);
  });

  test("cannot be sent again after it is erased, not even empty", async () => {
    const id = await oldEmail("failed", 31);
    await keep(30);
    await run();
    await expect(retryEmail(world.ctx, id, true)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/erased/),
    });
    const [delivery] = (await world.email(id)).deliveries;
    expect(delivery?.status).toBe("failed");
    await expect(getSource(world.ctx, id)).rejects.toMatchObject({ code: "conflict" });
  });

  test("of an email that is resent at the same moment is either kept or not sent", async () => {
    await keep(30);
    for (let round = 0; round < 5; round++) {
      const id = await oldEmail("failed", 31);
      await world.hot`update retention set next_at = now()`;
      const [, retried] = await Promise.allSettled([run(), retryEmail(world.ctx, id, false)]);
      const email = await world.email(id);
      const isQueued = email.deliveries[0]?.status === "queued";
      expect(retried?.status === "fulfilled").toBe(isQueued);
      expect(email.isErased).toBe(!isQueued);
    }
  });
});

describe("old emails", () => {
  test("are deleted with all their data after they are counted", async () => {
    const id = await oldEmail("delivered", 100);
    await keep(null, 90);
    await run();
    expect(await exists(id)).toBe(true);
    await countEvents(world.withTransport(null));
    await world.hot`update retention set next_at = now()`;
    await run();
    expect(await exists(id)).toBe(false);
    expect(Object.values(await rowsOf(id))).toEqual(TABLES.map(() => 0));
    const [counts] = await world.hot<{ received: number }[]>`
      select sum(received)::int as received from recipient_counts where team_id = ${world.ctx.teamId} and unit = 'hour'`;
    expect(counts?.received).toBe(1);
  });

  test("remain while they have pending webhook deliveries", async () => {
    const id = await oldEmail("delivered", 100);
    await countEvents(world.withTransport(null));
    const webhook = newId();
    await world.hot`
      insert into webhooks (team_id, id, url, events, secret)
      values (${world.ctx.teamId}, ${webhook}, 'https://example.org', '{email.delivered}', 'sealed')`;
    await world.hot`
      insert into webhook_deliveries (id, team_id, webhook_id, type, email_id, status)
      values (${newId()}, ${world.ctx.teamId}, ${webhook}, 'email.delivered', ${id}, 'pending')`;
    await keep(null, 90);
    await run();
    expect(await exists(id)).toBe(true);
    await world.hot`update webhook_deliveries set status = 'failed'`;
    await world.hot`update retention set next_at = now()`;
    await run();
    expect(await exists(id)).toBe(false);
    expect(await rowsOf(id)).toMatchObject({ webhook_deliveries: 0 });
  });
});

describe("a worker", () => {
  test("leaves a change of the retention due that is made meanwhile", async () => {
    const id = await oldEmail("delivered", 31);
    await keep(60);
    let isChanged = false;
    await applyRetention(world.withTransport(null), () => {
      const mayContinue = !isChanged;
      isChanged = true;
      return mayContinue;
    });
    await keep(30);
    await run();
    expect((await world.email(id)).isErased).toBe(true);
  });

  test("skips emails that must remain", async () => {
    const ids: string[] = [];
    for (const days of [60, 59, 58, 57, 56, 55])
      ids.push(await oldEmail(days % 2 === 0 ? "delivered" : "unknown", days));
    await keep(30);
    await run();
    const erased = await Promise.all(ids.map(async (id) => (await world.email(id)).isErased));
    expect(erased).toEqual([true, false, true, false, true, false]);
  });

  test("stops between two steps on request and continues there later", async () => {
    for (let n = 0; n < 3; n++) await oldEmail("delivered", 60 + n);
    await keep(30);
    await applyRetention(world.withTransport(null), () => false);
    expect((await world.hot`select from email_bodies`).length).toBe(3);
    let asked = 0;
    await applyRetention(world.withTransport(null), () => ++asked <= 1);
    await run();
    expect((await world.hot`select from email_bodies`).length).toBe(0);
  });
});

test("a new team keeps message content for 90 days, and the rest forever; other teams keep their rules", async () => {
  const { id } = await createTeam(world.deps, { name: "New" });
  expect(await getRetention({ ...world.ctx, teamId: id })).toEqual({ bodiesDays: 90, emailsDays: null });
  expect(await getRetention(world.ctx)).toEqual({ bodiesDays: null, emailsDays: null });
});

test("a rule is a number of days or forever, and its previous value is in the audit log", async () => {
  for (const [bodies, emails] of [
    [0, null],
    [1.5, null],
    [4_000, null],
    [null, -1],
    [31, 30],
  ] as const)
    await expect(keep(bodies, emails)).rejects.toMatchObject({ code: "invalid" });
  await keep(30, 90);
  await keep(30, 90);
  await keep(null, null);
  const rows = await world.hot<{ detail: object }[]>`
    select detail from audit_log where action = 'team.changed' order by id`;
  expect(rows.map(({ detail }) => detail)).toEqual([
    {
      keep_contents_days: 30,
      keep_contents_days_before: null,
      keep_emails_days: 90,
      keep_emails_days_before: null,
    },
    {
      keep_contents_days: null,
      keep_contents_days_before: 30,
      keep_emails_days: null,
      keep_emails_days_before: 90,
    },
  ]);
  expect((await world.hot`select from retention`).length).toBe(0);
});
