import { beforeEach, describe, expect, test } from "vitest";
import {
  changePartitions,
  dropOldChecks,
  firstIdAt,
  listPartitions,
  mergePartitions,
  splitPartition,
  timeOfId,
  truncatePartition,
} from "#db/partitions";
import { EMAIL_TABLES, findNextStart, maintainPartitions } from "#server/delivery/housekeeping/partitions";
import { applyRetention } from "#server/delivery/housekeeping/retention";
import { tick } from "#server/delivery/tick";
import { newId } from "#server/platform/ids";
import { setRetention } from "#server/services/retention";
import { createTeam } from "#server/services/teams";
import { countEvents } from "../support/count-events";
import { forEachTest } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forEachTest(() => createWorld());
beforeEach(async () => {
  await world.hot`delete from retention`;
});
beforeEach(async () => {
  // The tests create the ranges themselves.
  for (const of of [...EMAIL_TABLES, { table: "api_requests", key: "id" }])
    for (;;) {
      const [first, second] = await listPartitions(world.hot, of.table);
      if (!first || !second) break;
      await mergePartitions(world.hot, of, [first, second]);
    }
});

const dayMs = 86_400_000;
const deps = () => world.withTransport(null);
const maintain = () => maintainPartitions(deps(), () => true);
const daysAgo = (days: number) => firstIdAt(Math.floor(Date.now() / dayMs - days) * dayMs);

/** Ends a partition of all tables of emails at the start of the day so many days ago. */
async function splitAt(days: number): Promise<void> {
  for (const table of EMAIL_TABLES) expect(await splitPartition(world.hot, table, daysAgo(days))).toBeNull();
}

const rangesOf = async (table: string) =>
  (await listPartitions(world.hot, table)).map(({ from, to }) => [from, to]);

/** The number of rows of each table in the partition of the given ordinal. */
async function rowsIn(ordinal: number): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const { table } of EMAIL_TABLES) {
    const part = (await listPartitions(world.hot, table))[ordinal];
    rows[table] = (await world.hot.unsafe(`select from ${part?.name}`)).length;
  }
  return rows;
}

/** An email accepted some days ago, with a file and one delivery in this status. */
async function oldEmail(days: number, status = "delivered", teamId = world.ctx.teamId): Promise<string> {
  const id = firstIdAt(Date.now() - days * dayMs).slice(0, 14) + newId().slice(14);
  await world.hot`
    with email as (
      insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status, created_at)
      values (${id}, ${teamId}, 'a@backstamp.test', 'a@backstamp.test', 'backstamp.test', '["ann@example.net"]', 'Old', ${id}, ${status},
        now() - ${days} * interval '1 day')
    ), body as (insert into email_bodies (team_id, email_id, html) values (${teamId}, ${id}, '<p>Old</p>')
    ), file as (
      insert into attachments (team_id, id, email_id, position, content_type, size_bytes, content)
      values (${teamId}, ${newId()}, ${id}, 0, 'text/plain', 1, 'x')
    ), delivery as (
      insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, attempts, updated_at)
      values (${newId()}, ${teamId}, ${id}, 0, 'to', 'ann@example.net', 'example.net', ${status}, 1, now() - ${days} * interval '1 day')
    )
    insert into email_events (id, team_id, email_id, type) values (${newId()}, ${teamId}, ${id}, 'email.queued')`;
  return id;
}

const exists = async (id: string) => (await world.hot`select from emails where id = ${id}`).length === 1;
const bodyExists = async (id: string) =>
  (await world.hot`select from email_bodies where email_id = ${id}`).length === 1;
const runRetention = async () => {
  await countEvents(deps());
  await world.hot`update retention set next_at = now()`;
  await applyRetention(deps(), () => true);
  await maintain();
};

describe("the ranges of partitions", () => {
  test("workers that create partitions at the same time do not disturb each other", async () => {
    await Promise.all(Array.from({ length: 6 }, maintain));
    // What one of them postponed.
    await maintain();
    const ranges = await rangesOf("emails");
    expect(ranges.length).toBeGreaterThan(1);
    for (const { table } of EMAIL_TABLES) expect(await rangesOf(table), table).toEqual(ranges);
  });

  test("are made ahead in all tables, without gaps, and nothing more is to do afterwards", async () => {
    const { id } = await world.send();
    await maintain();
    const ranges = await rangesOf("emails");
    for (const { table } of EMAIL_TABLES) expect(await rangesOf(table)).toEqual(ranges);
    expect(ranges[0]?.[0]).toBeNull();
    expect(ranges.at(-1)?.[1]).toBeNull();
    for (const [index, [from]] of ranges.entries()) if (index > 0) expect(from).toBe(ranges[index - 1]?.[1]);
    expect(timeOfId(ranges.at(-1)?.[0] ?? "")).toBeGreaterThan(Date.now() + 30 * dayMs);
    const requests = await rangesOf("api_requests");
    expect(requests.length).toBeGreaterThan(2);
    await maintain();
    expect(await rangesOf("emails")).toEqual(ranges);
    expect(await rangesOf("api_requests")).toEqual(requests);
    expect((await world.email(id)).html).toBe("<p>Hello</p>");
    expect(await rowsIn(0)).toMatchObject({ emails: 1, email_bodies: 1, deliveries: 1, email_events: 1 });
  });

  test("cover a year of few emails, a week of many, and are few", async () => {
    const whole = [{ from: null, to: null }];
    const nowMs = Date.now();
    const spanOf = (id: string | null) => Math.round((timeOfId(id ?? "") - nowMs) / dayMs);
    expect(spanOf(findNextStart(whole, nowMs, 365))).toBeGreaterThanOrEqual(365);
    const next = findNextStart(whole, nowMs, 7);
    expect(spanOf(next)).toBeLessThanOrEqual(8);
    // A range of a year that was made ahead is divided when the volume grows.
    const year = [
      { from: null, to: next },
      { from: next, to: firstIdAt(nowMs + 365 * dayMs) },
    ];
    expect(spanOf(findNextStart(year, nowMs, 7))).toBeLessThanOrEqual(15);
    expect(findNextStart(year, nowMs, 365)).toBeNull();
  });

  test("an id of a wrong clock is accepted, delivered and moved to its range", async () => {
    await maintain();
    const last = (await listPartitions(world.hot, "emails")).at(-1);
    const id = await oldEmail(-4_000, "queued");
    const past = await oldEmail(15_000, "queued");
    await tick(world.withTransport(), { budgetMs: 5_000 });
    for (const one of [id, past]) expect((await world.email(one)).deliveries[0]?.status).toBe("delivered");
    expect(timeOfId(id)).toBeGreaterThan(timeOfId(last?.from ?? ""));
    const before = await world.rowCounts();
    for (const table of EMAIL_TABLES) await splitPartition(world.hot, table, daysAgo(-3_000));
    expect(await world.rowCounts()).toEqual(before);
    expect((await world.email(id)).deliveries[0]?.status).toBe("delivered");
  });

  test("a change that does not get its lock fails soon and is repeated later", async () => {
    await world.hot.begin(async (tx) => {
      await tx`lock table emails in row exclusive mode`;
      expect(await splitPartition(world.hot, EMAIL_TABLES[0], daysAgo(-10))).toBe("blocked");
    });
    expect(await rangesOf("emails")).toHaveLength(1);
    expect(await splitPartition(world.hot, EMAIL_TABLES[0], daysAgo(-10))).toBeNull();
    expect(await rangesOf("emails")).toHaveLength(2);
    await changePartitions(world.hot, [], async () => {
      expect(await splitPartition(world.hot, EMAIL_TABLES[0], daysAgo(-20))).toBe("blocked");
      return true;
    });
  });

  test("keep the storage options, and two empty ones become one", async () => {
    await splitAt(20);
    await splitAt(10);
    const optionsOf = await world.hot<{ options: string[] | null }[]>`
      select reloptions as options from pg_class where relname like 'deliveries\\_f%' and relkind = 'r'`;
    expect(new Set(optionsOf.map(({ options }) => JSON.stringify(options))).size).toBe(1);
    await oldEmail(5);
    await maintain();
    const ranges = await rangesOf("emails");
    expect(ranges.slice(0, 2).map(([from]) => from)).toEqual([null, daysAgo(10)]);
    for (const { table } of EMAIL_TABLES) expect(await rangesOf(table)).toEqual(ranges);
    const [first, second] = await listPartitions(world.hot, "emails");
    if (!first || !second) throw new Error("no partitions");
    expect(await mergePartitions(world.hot, EMAIL_TABLES[0], [first, second])).toBe(false);
  });
});

describe("partitions of the past", () => {
  const firstOf = async (table: string) => (await listPartitions(world.hot, table))[0];

  test("return their space when the rows of all teams were deleted, and later ones remain", async () => {
    await splitAt(60);
    const other = await createTeam(world.deps, { name: "Other" });
    await setRetention({ ...world.ctx, teamId: other.id }, { bodiesDays: 10, emailsDays: 80 });
    await setRetention(world.ctx, { bodiesDays: 30, emailsDays: 50 });
    await oldEmail(100);
    await oldEmail(75, "bounced", other.id);
    const kept = await oldEmail(45);
    await runRetention();
    // Content has expired for both teams, and records for one of them.
    for (const table of ["email_bodies", "attachments"]) expect((await firstOf(table))?.bytes).toBe(0);
    for (const table of ["emails", "deliveries", "email_events"])
      expect((await firstOf(table))?.bytes).toBeGreaterThan(0);
    await setRetention({ ...world.ctx, teamId: other.id }, { bodiesDays: 10, emailsDays: 60 });
    await runRetention();
    for (const { table } of EMAIL_TABLES) expect((await firstOf(table))?.bytes, table).toBe(0);
    expect(await exists(kept)).toBe(true);
    expect(await bodyExists(kept)).toBe(false);
  });

  test("keep a row that another transaction is storing", async () => {
    await splitAt(60);
    await setRetention(world.ctx, { bodiesDays: 30, emailsDays: 50 });
    await oldEmail(100);
    await runRetention();
    await world.hot`delete from retention`;
    const part = (await firstOf("emails"))?.name ?? "";
    await world.hot.begin(async (tx) => {
      await tx`
        insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
        values (${daysAgo(90)}, ${world.ctx.teamId}, 'a', 'a', 'example.org', '[]', 'Late', 'x', 'sent')`;
      expect(await truncatePartition(world.hot, part)).toBe(false);
    });
    await maintain();
    expect(await exists(daysAgo(90))).toBe(true);
  });

  test("of requests return their space too", async () => {
    const requests = { table: "api_requests", key: "id" };
    expect(await splitPartition(world.hot, requests, daysAgo(40))).toBeNull();
    await world.api("GET", "/api/domains", { token: (await world.key()).token });
    await world.deps.requestLog.flush();
    await world.hot`insert into api_requests select (jsonb_populate_record(null::api_requests, to_jsonb(r)
        || jsonb_build_object('id', ${daysAgo(50)}::text))).* from api_requests r limit 1`;
    expect((await world.hot`delete from api_requests where id < ${daysAgo(40)}`).count).toBe(1);
    expect((await firstOf("api_requests"))?.bytes).toBeGreaterThan(0);
    await maintain();
    expect((await firstOf("api_requests"))?.bytes).toBe(0);
  });
});

test("a large partition is divided without a scan under the lock, unless it has later ids or the time is too near", async () => {
  const { hot } = world;
  const days = (count: number) => firstIdAt(Date.now() + count * dayMs);
  const countEmails = async () => (await hot`select from emails`).length;
  // Larger than what is scanned: one row in a page.
  for (const { name } of await listPartitions(hot, "emails"))
    await hot.unsafe(`alter table ${name} set (fillfactor = 10)`);
  await hot`
    insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
    select uuid_v7(), ${world.id}, 'a', 'a', 'example.org', to_jsonb(array[repeat('a', 1000)]), repeat('b', 500), 'x', 'sent'
    from generate_series(1, 1500)`;
  const later = days(9);
  await hot`
    insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
    values (${later}, ${world.id}, 'a', 'a', 'example.org', '[]', 'Later', 'x', 'sent')`;
  const rows = await countEmails();
  const [of] = EMAIL_TABLES;
  expect(await splitPartition(hot, of, days(1))).toBe("too_late");
  expect(await splitPartition(hot, of, days(8))).toBe("later_ids");
  // A constraint would reject the change.
  expect((await hot`update emails set status = 'delivered' where id = ${later}`).count).toBe(1);
  expect(await countEmails()).toBe(rows);
  await hot`delete from emails where id = ${later}`;
  // A division that was begun and never completed, so that new emails would soon be rejected.
  const large = (await listPartitions(hot, "emails")).find(({ bytes }) => bytes > 2 ** 23)?.name ?? "";
  await hot.unsafe(
    `alter table ${large} add constraint partition_range check (id < '${days(0.5)}') not valid`,
  );
  await dropOldChecks(hot, Date.now());
  expect(await hot`select from pg_constraint where conname = 'partition_range'`).toHaveLength(0);
  expect(await splitPartition(hot, of, days(8))).toBeNull();
  expect(await countEmails()).toBe(rows - 1);
  const constraints = await hot`select from pg_constraint where conname = 'partition_range'`;
  expect(constraints).toHaveLength(0);
  await world.send();
});
