import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listOwnTables, migrateDatabase } from "#db/migrate";
import { dropOldChecks, firstIdAt, listPartitions, splitPartition } from "#db/partitions";
import { newId } from "#server/platform/ids";
import { copyBackup } from "../support/database/copy-backup";
import { createRoleDatabase, type RoleDatabase } from "../support/database/role-database";

const ownFolder = fileURLToPath(new URL("../../db/migrations", import.meta.url));
/** The last migration of release 0.2.0. */
const RELEASED = 1;
const TABLES = [
  "emails",
  "email_bodies",
  "attachments",
  "captured_messages",
  "deliveries",
  "email_events",
  "api_requests",
  "webhook_deliveries",
  "webhook_attempts",
];
/** Events, and their deliveries and attempts: those of acceptance and of sending. */
const TWICE = ["email_events", "webhook_deliveries", "webhook_attempts"];

let database: RoleDatabase;
let folder: string;
let sql: Sql;
const teamId = newId();
const webhookId = newId();
beforeAll(async () => {
  database = await createRoleDatabase();
  folder = await mkdtemp(path.join(tmpdir(), "backstamp migrations "));
  await cp(ownFolder, folder, { recursive: true });
  const file = path.join(folder, "meta/_journal.json");
  const journal = JSON.parse(await readFile(file, "utf8"));
  journal.entries = journal.entries.slice(0, RELEASED + 1);
  await writeFile(file, JSON.stringify(journal));
  await migrateDatabase(database.url, { folder });
  sql = postgres(database.url, { max: 4, onnotice: () => {} });
  await sql`insert into teams (id, name) values (${teamId}, 'Team')`;
  await sql`
    insert into webhooks (team_id, id, url, events, secret)
    values (${teamId}, ${webhookId}, 'https://example.org', '{email.queued,email.sent}', 'sealed')`;
});
afterAll(async () => {
  await sql.end();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Accepts an email with the columns of release 0.2.0. */
async function accept(): Promise<string> {
  const id = newId();
  await sql`
    with email as (
      insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
      values (${id}, ${teamId}, 'a@example.org', 'a@example.org', 'example.org', '["ann@example.net"]', 'Hello', ${id}, 'queued')
    ), body as (insert into email_bodies (team_id, email_id, html) values (${teamId}, ${id}, '<p>Hello</p>')
    ), file as (
      insert into attachments (team_id, id, email_id, position, content_type, size_bytes, content)
      values (${teamId}, ${newId()}, ${id}, 0, 'text/plain', 1, 'x')
    ), delivery as (
      insert into deliveries (id, team_id, email_id, position, kind, address, domain, status)
      values (${newId()}, ${teamId}, ${id}, 0, 'to', 'ann@example.net', 'example.net', 'queued')
    ), request as (
      insert into api_requests (team_id, id, api_key_id, method, path, status)
      values (${teamId}, ${newId()}, ${newId()}, 'POST', '/api/emails', 200)
    )
    insert into email_events (id, team_id, email_id, type) values (${newId()}, ${teamId}, ${id}, 'email.queued')`;
  return id;
}

/** Claims a delivery and records its result, as release 0.2.0 does. */
async function deliver(id: string): Promise<void> {
  await sql`
    update deliveries set status = 'sending', lease_token = ${newId()}, leased_until = now() + interval '1 minute'
    where id in (select id from deliveries where email_id = ${id} and status = 'queued' for update skip locked)`;
  await sql.begin(async (tx) => {
    await tx`select id from emails where team_id = ${teamId} and id = ${id} for no key update`;
    await tx`update deliveries set status = 'sent', lease_token = null where email_id = ${id}`;
    await tx`update emails set status = 'sent' where team_id = ${teamId} and id = ${id}`;
    await tx`insert into captured_messages (team_id, email_id, raw) values (${teamId}, ${id}, 'x') on conflict do nothing`;
    await tx`insert into email_events (id, team_id, email_id, type) values (${newId()}, ${teamId}, ${id}, 'email.sent')`;
  });
  await announce(id);
}

/** Claims the event deliveries of an email and records their results, as release 0.2.0 does. */
async function announce(id: string): Promise<void> {
  const leaseToken = newId();
  await sql`
    update webhook_deliveries set status = 'attempting', attempts = attempts + 1, lease_token = ${leaseToken},
      leased_until = now() + interval '1 minute'
    where id in (select id from webhook_deliveries where email_id = ${id} and status = 'pending' order by id for update skip locked)`;
  await sql`
    with held as materialized (
      select d.id from webhook_deliveries d where d.lease_token = ${leaseToken} order by d.id for no key update of d
    ), written as (
      update webhook_deliveries d set status = 'success', lease_token = null, leased_until = null
      from held where d.id = held.id returning d.id, d.team_id
    )
    insert into webhook_attempts (team_id, delivery_id, id, number, url, headers, status_code, duration_ms)
    select team_id, id, gen_random_uuid(), (select count(*) + 1 from webhook_attempts a
      where a.team_id = written.team_id and a.delivery_id = written.id), 'https://example.org', '{}', 200, 1 from written`;
}

const countRows = async (table: string): Promise<number> => (await sql`select from ${sql(table)}`).length;

test("a backup of release 0.2.0 is restored into the partitions, with every row", async () => {
  for (let n = 0; n < 5; n++) await deliver(await accept());
  const { catalog, load } = await copyBackup(database.url);
  const empty = await createRoleDatabase();
  await migrateDatabase(empty.url, {
    load: { at: catalog.migrations.map(({ at }) => at), run: () => load(empty.url, listOwnTables()) },
  });
  const restored = postgres(empty.url, { max: 1, onnotice: () => {} });
  for (const table of TABLES) {
    // Release 0.2.0 does not have the columns that were added later.
    const columns = catalog.tables.find(({ name }) => name === table)?.columns ?? [];
    const both = await Promise.all(
      [sql, restored].map(
        (one) => one`select to_jsonb(t) as row from (select ${one(columns)} from ${one(table)}) t order by 1`,
      ),
    );
    expect(both[1]?.length).toBeGreaterThanOrEqual(5);
    expect([...(both[1] ?? [])]).toEqual([...(both[0] ?? [])]);
    expect(await listPartitions(restored as never, table)).toHaveLength(1);
  }
  await restored.end();
  await empty.drop();
});

test("a database of release 0.2.0 becomes partitioned while it accepts and sends, and no statement fails", async () => {
  const before = await countRows("emails");
  for (let n = 0; n < 5; n++) await deliver(await accept());
  const filesBefore = await sql<{ file: number }[]>`
    select pg_relation_filenode('emails')::int as file union all select pg_relation_filenode('deliveries_priority_idx')::int
    union all select pg_relation_filenode('webhook_deliveries_due_idx')::int`;
  let isMigrated = false;
  const sent: string[] = [];
  const write = async () => {
    while (!isMigrated) {
      const id = await accept();
      await deliver(id);
      sent.push(id);
    }
  };
  const writers = [write(), write(), write()];
  await migrateDatabase(database.url);
  isMigrated = true;
  await Promise.all(writers);
  const emails = before + 5 + sent.length;
  for (const table of TABLES)
    expect([table, await countRows(table)]).toEqual([table, TWICE.includes(table) ? 2 * emails : emails]);
  const kinds = await sql<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'p' and relname = any(${TABLES}) order by 1`;
  expect(kinds.map(({ name }) => name)).toEqual([...TABLES].sort());
  // Nothing was rewritten or built again.
  const filesAfter = await sql<{ file: number }[]>`
    select pg_relation_filenode('emails_first')::int as file
    union all select pg_relation_filenode('deliveries_first_priority_idx')::int
    union all select pg_relation_filenode('webhook_deliveries_first_due_idx')::int`;
  expect([...filesAfter]).toEqual([...filesBefore]);
  const invalid = await sql`select indexrelid::regclass from pg_index where not indisvalid`;
  expect([...invalid]).toEqual([]);
  // An id that exists is rejected with the constraint that release 0.2.0 expects.
  const [id] = sent;
  if (id)
    await expect(sql`insert into emails select * from emails where id = ${id}`).rejects.toMatchObject({
      code: "23505",
      constraint_name: "emails_team_id_id_pk",
    });
  // It deletes only the email.
  await sql`delete from emails where team_id = ${teamId} and id = ${id ?? ""}`;
  for (const table of TABLES.slice(1, TABLES.indexOf("api_requests")))
    expect((await sql`select from ${sql(table)} where email_id = ${id ?? ""}`).length).toBe(0);
});

test("the partitioned outbox of 0.2.0 still belongs to its endpoint", async () => {
  const other = newId();
  await sql`
    insert into webhooks (team_id, id, url, events, secret) values (${teamId}, ${other}, 'https://example.org', '{email.queued}', 'sealed')`;
  const at = firstIdAt(Date.now() + 86_400_000);
  for (const [table, key] of [
    ["webhook_deliveries", "id"],
    ["webhook_attempts", "delivery_id"],
  ] as const)
    expect(await splitPartition(sql as never, { table, key }, at)).toBeNull();
  // The foreign key of each partition is that of the table, so none was added again and checked.
  const keys = await sql`
    select count(*)::int as keys, bool_and(c.conparentid <> 0 and c.convalidated) as "areAttached"
    from pg_inherits i join pg_constraint c on c.conrelid = i.inhrelid and c.contype = 'f'
    where i.inhparent = 'webhook_deliveries'::regclass group by i.inhrelid`;
  expect([...keys]).toEqual(Array(2).fill({ keys: 1, areAttached: true }));
  const before = await countRows("webhook_attempts");
  const id = await accept();
  await announce(id);
  const deliveryOf = (endpoint: string) =>
    sql<
      { id: string }[]
    >`select id from webhook_deliveries where email_id = ${id} and webhook_id = ${endpoint}`;
  // It deletes only the event delivery.
  const [one] = await deliveryOf(webhookId);
  expect(await countRows("webhook_attempts")).toBe(before + 2);
  await sql`delete from webhook_deliveries where id = ${one?.id ?? ""}`;
  expect(await countRows("webhook_attempts")).toBe(before + 1);
  expect(await sql`select from webhook_attempts where delivery_id = ${one?.id ?? ""}`).toHaveLength(0);
  // In both partitions: one row is of tomorrow.
  await sql`
    insert into webhook_deliveries (id, team_id, webhook_id, type) values (${firstIdAt(Date.now() + 2 * 86_400_000)}, ${teamId}, ${webhookId}, 'email.sent')`;
  await sql`delete from webhooks where id = ${webhookId}`;
  expect(await countRows("webhook_deliveries")).toBe(1);
  expect(await countRows("webhook_attempts")).toBe(1);
  expect(await deliveryOf(other)).toHaveLength(1);
  for (const days of [0, 2])
    await expect(sql`
      insert into webhook_deliveries (id, team_id, webhook_id, type)
      values (${firstIdAt(Date.now() + days * 86_400_000)}, ${teamId}, ${webhookId}, 'email.sent')`).rejects.toMatchObject(
      {
        code: "23503",
      },
    );
});

test("a large partition is divided without a scan under the lock, unless it has later ids or the time is too near", async () => {
  const days = (count: number) => firstIdAt(Date.now() + count * 86_400_000);
  // Larger than what is scanned: one row in a page.
  for (const { name } of await listPartitions(sql as never, "emails"))
    await sql.unsafe(`alter table ${name} set (fillfactor = 10)`);
  await sql`
    insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
    select uuid_v7(), ${teamId}, 'a', 'a', 'example.org', to_jsonb(array[repeat('a', 1000)]), repeat('b', 500), 'x', 'sent'
    from generate_series(1, 1500)`;
  const later = days(9);
  await sql`
    insert into emails (id, team_id, sender, sender_address, sender_domain, "to", subject, message_id, status)
    values (${later}, ${teamId}, 'a', 'a', 'example.org', '[]', 'Later', 'x', 'sent')`;
  const rows = await countRows("emails");
  const hot = sql as never;
  const of = { table: "emails", key: "id" };
  expect(await splitPartition(hot, of, days(1))).toBe("too_late");
  expect(await splitPartition(hot, of, days(8))).toBe("later_ids");
  // A constraint would reject the change.
  expect((await sql`update emails set status = 'delivered' where id = ${later}`).count).toBe(1);
  expect(await countRows("emails")).toBe(rows);
  await sql`delete from emails where id = ${later}`;
  // A division that was begun and never completed, so that new emails would soon be rejected.
  const large = (await listPartitions(hot, "emails")).find(({ bytes }) => bytes > 2 ** 23)?.name ?? "";
  await sql.unsafe(
    `alter table ${large} add constraint partition_range check (id < '${days(0.5)}') not valid`,
  );
  await dropOldChecks(hot, Date.now());
  expect(await sql`select from pg_constraint where conname = 'partition_range'`).toHaveLength(0);
  expect(await splitPartition(hot, of, days(8))).toBeNull();
  expect(await countRows("emails")).toBe(rows - 1);
  const constraints = await sql`select from pg_constraint where conname = 'partition_range'`;
  expect(constraints).toHaveLength(0);
  await accept();
});
