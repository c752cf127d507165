import { expect, test } from "vitest";
import { ForeignDatabaseError, MigrationBlockedError } from "#db/compatibility";
import { MIGRATION_LOCK, migrateDatabase } from "#db/migrate";
import { explainDatabaseFault } from "#server/startup/install/database-faults";
import { forAllTests } from "../support/fixtures";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());

const readApplied = () => world.hot`select hash from drizzle.__drizzle_migrations order by id`;

test("a role that the migrations have not seen gets its default against a crash of PostgreSQL 18", async () => {
  const readDefaults = () => world.hot<{ setting: string }[]>`
    select unnest(setconfig) as setting from pg_db_role_setting
    where setdatabase = (select oid from pg_database where datname = current_database())`;
  // The database is a copy, which has no defaults of the original one.
  expect(await readDefaults()).toEqual([]);
  await migrateDatabase(world.databaseUrl);
  expect(await readDefaults()).toEqual([{ setting: "enable_partition_pruning=off" }]);
});

test("a database with a foreign first migration is rejected and stays unchanged", async () => {
  await world.hot`
    insert into drizzle.__drizzle_migrations (hash, created_at) values (${"another first migration"}, 1)`;
  const before = await readApplied();
  const error = await migrateDatabase(world.databaseUrl).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ForeignDatabaseError);
  expect(explainDatabaseFault(error)).toMatch(/use a new database/i);
  expect(await readApplied()).toEqual(before);
  await world.hot`delete from drizzle.__drizzle_migrations where created_at = 1`;
});

test("a migration that another process blocks for too long ends with a reason", async () => {
  await world.hot.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`;
    const error = await migrateDatabase(world.databaseUrl, { blockedMsMax: 300 }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(MigrationBlockedError);
    expect(explainDatabaseFault(error)).toMatch(/Another process kept the lock/);
  });
});

test("migrating an up-to-date database changes nothing", async () => {
  const before = await readApplied();
  expect(await migrateDatabase(world.databaseUrl)).toEqual({ before: before.length, applied: 0 });
  expect(await readApplied()).toEqual(before);
});

const outboxTriggers = () =>
  world.hot`select tgname from pg_trigger where tgname = 'email_events_announced' and tgparentid = 0`;

async function loseOutbox(): Promise<void> {
  await world.hot`drop trigger email_events_announced on email_events`;
  await world.hot`update drizzle.__functions set hash = 'of another build'`;
}

test("functions and triggers of another build are replaced by those of this one", async () => {
  const before = await world.hot`select hash from drizzle.__functions`;
  await loseOutbox();
  await migrateDatabase(world.databaseUrl);
  expect(await outboxTriggers()).toHaveLength(1);
  expect(await world.hot`select hash from drizzle.__functions`).toEqual(before);
});

test("an older build leaves the functions and triggers of a newer one", async () => {
  await loseOutbox();
  await world.hot`
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('a newer migration', 9000000000000)`;
  await migrateDatabase(world.databaseUrl);
  expect(await outboxTriggers()).toEqual([]);
  await world.hot`delete from drizzle.__drizzle_migrations where created_at = 9000000000000`;
  await migrateDatabase(world.databaseUrl);
  expect(await outboxTriggers()).toHaveLength(1);
});
