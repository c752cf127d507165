import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  changePartitions,
  firstIdAt,
  listPartitions,
  mergePartitions,
  splitPartition,
  timeOfId,
} from "#db/partitions";
import { EMAIL_TABLES, findNextStart, maintainPartitions } from "#server/delivery/housekeeping/partitions";
import { applyRetention } from "#server/delivery/housekeeping/retention";
import { aggregateUsage } from "#server/delivery/housekeeping/usage";
import { tick } from "#server/delivery/tick";
import { newId } from "#server/platform/ids";
import { retryEmail } from "#server/services/emails/change/retry";
import { setRetention } from "#server/services/retention";
import { createTeam } from "#server/services/teams";
import { createWorld, type World } from "../support/world";

let world: World;
beforeEach(async () => {
  world = await createWorld();
  await world.hot`delete from retention`;
  // The tests create the ranges themselves.
  for (const of of [...EMAIL_TABLES, { table: "api_requests", key: "id" }])
    for (;;) {
      const [first, second] = await listPartitions(world.hot, of.table);
      if (!first || !second) break;
      await mergePartitions(world.hot, of, [first, second]);
    }
});
afterEach(() => world.close());

const dayMs = 86_400_000;
const deps = () => world.withTransport(null);
const maintain = () => maintainPartitions(deps(), () => true);
const daysAgo = (days: number) => firstIdAt(Math.floor(Date.now() / dayMs - days) * dayMs);

/** Ends a partition of all tables of emails at the start of the day so many days ago. */
async function splitAt(days: number): Promise<void> {
  for (const table of EMAIL_TABLES) expect(await splitPartition(world.hot, table, daysAgo(days))).toBe(true);
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
  await aggregateUsage(deps(), () => true);
  await applyRetention(deps(), () => true);
};
/** Deletes expired partitions, but no rows. */
const runWithoutRows = async () => {
  await aggregateUsage(deps(), () => true);
  await world.hot`update retention set next_at = 'infinity'`;
  await applyRetention(deps(), () => true);
};

describe("the ranges of partitions", () => {
  test("workers that create partitions at the same time do not disturb each other", async () => {
    await Promise.all(Array.from({ length: 6 }, maintain));
    // What one of them postponed.
    await maintain();
    const ranges = await rangesOf("emails");
    expect(ranges.length).toBeGreaterThan(2);
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
    expect(requests.length).toBeGreaterThan(3);
    await maintain();
    expect(await rangesOf("emails")).toEqual(ranges);
    expect(await rangesOf("api_requests")).toEqual(requests);
    expect((await world.email(id)).html).toBe("<p>Hello</p>");
    expect(await rowsIn(0)).toMatchObject({ emails: 1, email_bodies: 1, deliveries: 1, email_events: 1 });
  });

  test("cover a year of few emails, a week of many, and are few", async () => {
    const whole = [{ name: "first", from: null, to: null }];
    const nowMs = Date.now();
    const spanOf = (id: string | null) => Math.round((timeOfId(id ?? "") - nowMs) / dayMs);
    expect(spanOf(findNextStart(whole, nowMs, 365))).toBeGreaterThanOrEqual(365);
    const next = findNextStart(whole, nowMs, 7);
    expect(spanOf(next)).toBeLessThanOrEqual(8);
    // A range of a year that was made ahead is divided when the volume grows.
    const year = [
      { name: "first", from: null, to: next },
      { name: "second", from: next, to: firstIdAt(nowMs + 365 * dayMs) },
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
      expect(await splitPartition(world.hot, EMAIL_TABLES[0], daysAgo(-10))).toBe(false);
    });
    expect(await rangesOf("emails")).toHaveLength(1);
    expect(await splitPartition(world.hot, EMAIL_TABLES[0], daysAgo(-10))).toBe(true);
    expect(await rangesOf("emails")).toHaveLength(2);
    await changePartitions(world.hot, async () => {
      expect(await splitPartition(world.hot, EMAIL_TABLES[0], daysAgo(-20))).toBe(false);
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

describe("expired partitions", () => {
  test("are emptied with everything in them when each team's period has passed; later ones remain", async () => {
    await splitAt(60);
    const other = await createTeam(world.deps, { name: "Other" });
    await setRetention({ ...world.ctx, teamId: other.id }, { bodiesDays: 10, emailsDays: 20 });
    await setRetention(world.ctx, { bodiesDays: 30, emailsDays: 50 });
    await oldEmail(100);
    await oldEmail(90, "bounced", other.id);
    const kept = await oldEmail(55);
    await runWithoutRows();
    expect(Object.values(await rowsIn(0))).toEqual(EMAIL_TABLES.map(() => 0));
    expect(await exists(kept)).toBe(true);
    expect(await bodyExists(kept)).toBe(true);
  });

  test("of content are emptied before those of records", async () => {
    await splitAt(60);
    await setRetention(world.ctx, { bodiesDays: 30, emailsDays: null });
    const old = await oldEmail(100);
    await runWithoutRows();
    expect(await rowsIn(0)).toMatchObject({
      emails: 1,
      deliveries: 1,
      email_events: 1,
      email_bodies: 0,
      attachments: 0,
    });
    expect(await world.email(old)).toMatchObject({ isErased: true, subject: "Old" });
  });

  test("remain for a team with a longer period, whose rows are kept while those of others are deleted", async () => {
    await splitAt(60);
    const other = await createTeam(world.deps, { name: "Other" });
    await setRetention({ ...world.ctx, teamId: other.id }, { bodiesDays: null, emailsDays: 400 });
    await setRetention(world.ctx, { bodiesDays: 30, emailsDays: 50 });
    const expired = await oldEmail(100);
    const kept = await oldEmail(100, "delivered", other.id);
    await runWithoutRows();
    expect(await exists(expired)).toBe(true);
    await world.hot`update retention set next_at = now()`;
    await runRetention();
    expect(await exists(expired)).toBe(false);
    expect(await exists(kept)).toBe(true);
    expect(await bodyExists(kept)).toBe(true);
  });

  test("remain for a team that keeps email forever, has email in the queue, or events that are not counted or reported", async () => {
    await splitAt(60);
    const id = await oldEmail(100);
    await runWithoutRows();
    expect(await exists(id)).toBe(true);
    await setRetention(world.ctx, { bodiesDays: null, emailsDays: 50 });
    await world.hot`update retention set next_at = 'infinity'`;
    // Not counted yet.
    await world.hot`delete from usage_progress`;
    await applyRetention(deps(), () => true);
    expect(await exists(id)).toBe(true);
    await setRetention(world.ctx, { bodiesDays: 30, emailsDays: 50 });
    for (const status of ["scheduled", "queued", "sending", "unknown"]) {
      await world.hot`update deliveries set status = ${status} where email_id = ${id}`;
      await runWithoutRows();
      expect([await exists(id), await bodyExists(id)]).toEqual([true, true]);
    }
    await world.hot`update deliveries set status = 'delivered' where email_id = ${id}`;
    const webhook = newId();
    await world.hot`
      insert into webhooks (team_id, id, url, events, secret)
      values (${world.ctx.teamId}, ${webhook}, 'https://example.org', '{email.delivered}', 'sealed')`;
    await world.hot`
      insert into webhook_deliveries (id, team_id, webhook_id, type, email_id, status)
      values (${newId()}, ${world.ctx.teamId}, ${webhook}, 'email.delivered', ${id}, 'pending')`;
    await runWithoutRows();
    expect([await exists(id), await bodyExists(id)]).toEqual([true, false]);
    await world.hot`update webhook_deliveries set status = 'success'`;
    await runWithoutRows();
    expect(await exists(id)).toBe(false);
    expect(await world.hot`select from webhook_deliveries`).toHaveLength(0);
  });

  test("of an email that is sent again at the same moment either remain or it is not sent", async () => {
    await splitAt(60);
    await setRetention(world.ctx, { bodiesDays: 30, emailsDays: null });
    for (let round = 0; round < 5; round++) {
      const id = await oldEmail(100, "failed");
      await aggregateUsage(deps(), () => true);
      await world.hot`update retention set next_at = 'infinity'`;
      const [, retried] = await Promise.allSettled([
        applyRetention(deps(), () => true),
        retryEmail(world.ctx, id, false),
      ]);
      const isQueued = (await world.email(id)).deliveries[0]?.status === "queued";
      expect(retried?.status === "fulfilled").toBe(isQueued);
      if (isQueued) expect(await bodyExists(id)).toBe(true);
      await world.hot`update deliveries set status = 'canceled' where email_id = ${id}`;
    }
  });
});

test("a list reads only the partitions that it needs, and a lookup an index of each", async () => {
  for (const days of [300, 200, 100]) await splitAt(days);
  for (const days of [350, 250, 150, 50]) for (let n = 0; n < 5; n++) await oldEmail(days);
  const recent = await oldEmail(1, "queued");
  await world.hot.unsafe("analyze emails, deliveries");
  const explain = async (query: string) => {
    const rows = await world.hot.unsafe(`explain (analyze, buffers, format json) ${query}`);
    return rows.flatMap((row) => row["QUERY PLAN"])[0].Plan;
  };
  const team = world.ctx.teamId;
  const partitions = await listPartitions(world.hot, "emails");
  // Newest first: older partitions are not read once the page is full.
  const page = await explain(`select * from emails where team_id = '${team}' order by id desc limit 3`);
  expect(partitions.filter(({ name }) => !isNeverRun(page, name)).length).toBeLessThanOrEqual(1);
  const lookup = await explain(`select * from emails where team_id = '${team}' and id = '${recent}'`);
  expect(JSON.stringify(lookup)).not.toContain("Seq Scan");
  expect(lookup["Shared Hit Blocks"] + lookup["Shared Read Blocks"]).toBeLessThanOrEqual(
    4 * partitions.length,
  );
  await tick(world.withTransport(), { budgetMs: 5_000 });
  expect((await world.email(recent)).deliveries[0]?.status).toBe("delivered");
});

/** Whether a plan contains the table only in steps that were not executed. */
function isNeverRun(plan: unknown, table: string): boolean {
  if (Array.isArray(plan)) return plan.every((one) => isNeverRun(one, table));
  if (plan === null || typeof plan !== "object") return true;
  const node = plan as Record<string, unknown>;
  if (node["Relation Name"] === table && Number(node["Actual Loops"]) > 0) return false;
  return Object.values(node).every((one) => isNeverRun(one, table));
}
