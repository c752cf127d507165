import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { MigrationBlockedError } from "#db/compatibility";
import { migrateDatabase } from "#db/migrate";
import { explainDatabaseFault } from "#server/startup/install/database-faults";
import { forAllTests } from "../support/fixtures";
import { createWorld } from "../support/world";

const ownFolder = fileURLToPath(new URL("../../db/migrations", import.meta.url));
const eventually = { timeout: 30_000, interval: 20 };

const world = forAllTests(() => createWorld());
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "backstamp migrations "));
  await cp(ownFolder, folder, { recursive: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Adds migrations to those of this build, as the next release does. */
async function addMigrations(...texts: string[]): Promise<void> {
  const file = path.join(folder, "meta/_journal.json");
  const journal = JSON.parse(await readFile(file, "utf8"));
  for (const text of texts) {
    const { when } = journal.entries.at(-1);
    const tag = `next_${journal.entries.length}`;
    journal.entries.push({ ...journal.entries.at(-1), idx: journal.entries.length, when: when + 1, tag });
    await writeFile(path.join(folder, `${tag}.sql`), text);
  }
  await writeFile(file, JSON.stringify(journal));
}

const migrate = (options = {}) => migrateDatabase(world.databaseUrl, { folder, ...options });
const applied = async (): Promise<number> =>
  (await world.hot`select 1 from drizzle.__drizzle_migrations`).length;
const columnsOf = async (table: string): Promise<string[]> =>
  (
    await world.hot<{ name: string }[]>`
      select column_name as name from information_schema.columns where table_name = ${table}`
  ).map(({ name }) => name);

/** An open transaction of a separate connection. By default it has read `teams`, as a long report has. */
async function openTransaction(statement = "select count(*) from teams"): Promise<{ end(): Promise<void> }> {
  const sql = postgres(world.databaseUrl, { max: 1, onnotice: () => {} });
  const reserved = await sql.reserve();
  await reserved.unsafe(`begin; ${statement}`);
  return {
    async end() {
      await reserved.unsafe("rollback");
      reserved.release();
      await sql.end();
    },
  };
}

const isWaitingForTable = async (): Promise<boolean> =>
  (
    await world.hot`
      select 1 from pg_stat_activity where datname = current_database() and query like 'alter table%'
        and wait_event_type = 'Lock'`
  ).length > 0;

test("a migration behind a long transaction lets other statements through, and succeeds after it", async () => {
  await addMigrations("alter table teams add column motto text");
  const blocker = await openTransaction();
  const migrating = migrate();
  await vi.waitFor(async () => expect(await isWaitingForTable()).toBe(true), eventually);
  // While the table is still in use: a statement behind the waiting migration is not blocked for long.
  await world.hot`update teams set name = name || '!'`;
  await world.send();
  expect(await columnsOf("teams")).not.toContain("motto");
  await blocker.end();
  expect(await migrating).toMatchObject({ applied: 1 });
  expect(await columnsOf("teams")).toContain("motto");
});

test("a migration that does not get its locks changes nothing and says what to do; the ones before it remain", async () => {
  await addMigrations(
    "create table first_step (id int)",
    "alter table teams add column blocked text;--> statement-breakpoint\ncreate table second_step (id int)",
  );
  const before = await applied();
  const blocker = await openTransaction();
  const error = await migrate({ blockedMsMax: 0 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MigrationBlockedError);
  expect(explainDatabaseFault(error)).toContain("pg_stat_activity");
  expect(await applied()).toBe(before + 1);
  expect(await columnsOf("first_step")).toEqual(["id"]);
  expect(await columnsOf("second_step")).toEqual([]);
  await blocker.end();
  expect(await migrate()).toMatchObject({ applied: 1 });
  expect(await columnsOf("second_step")).toEqual(["id"]);
});

const indexNamed = (name: string, on = "name", unique = "") =>
  [
    `drop index concurrently if exists ${name}`,
    `create ${unique} index concurrently ${name} on teams (${on})`,
  ].join(";--> statement-breakpoint\n");

test("an index is built concurrently while other processes wait to migrate and others write", async () => {
  await addMigrations(indexNamed("built_idx"), "create table after_index (id int)");
  // The build waits for this older transaction, so all processes overlap.
  const blocker = await openTransaction("update teams set name = name || '!'");
  const runs = Array.from({ length: 4 }, () => migrate());
  await vi.waitFor(async () => {
    const building =
      await world.hot`select 1 from pg_stat_progress_create_index where datname = current_database()`;
    expect(building).toHaveLength(1);
  }, eventually);
  await world.send();
  await blocker.end();
  const done = await Promise.all(runs);
  expect(done.map((one) => one.applied).sort()).toEqual([0, 0, 0, 2]);
  const valid = await world.hot`
    select indisvalid as valid from pg_index where indexrelid = 'built_idx'::regclass`;
  expect(valid).toEqual([{ valid: true }]);
});

test("an index whose build was interrupted is built again", async () => {
  await addMigrations(indexNamed("rebuilt_idx", "name", "unique"));
  await world.hot`insert into teams (id, name) select gen_random_uuid(), 'twice' from generate_series(1, 2)`;
  await expect(migrate()).rejects.toMatchObject({ code: "23505" });
  const before = await applied();
  await world.hot`delete from teams where name = 'twice'`;
  expect(await migrate()).toMatchObject({ before, applied: 1 });
  const valid = await world.hot`
    select indisvalid as valid from pg_index where indexrelid = 'rebuilt_idx'::regclass`;
  expect(valid).toEqual([{ valid: true }]);
});

test("a database with migrations of a newer build is used as it is, and keeps them", async () => {
  await addMigrations("alter table teams add column newest text");
  await migrate();
  const before = await applied();
  expect(await migrateDatabase(world.databaseUrl)).toEqual({ before, applied: 0 });
  const { id } = await world.send();
  expect(id).toEqual(expect.any(String));
  expect(await applied()).toBe(before);
});

test("the time limits of the database's role do not apply to a migration, also behind a pooler", async () => {
  const name = new URL(world.databaseUrl).pathname.slice(1);
  const limits = ["statement_timeout", "idle_in_transaction_session_timeout"];
  for (const limit of limits) await world.hot.unsafe(`alter database "${name}" set ${limit} = '30s'`);
  // It fails where a limit applies, and returns the value.
  // Only statements in a transaction can be idle in it.
  await world.hot`
    create function unlimited(value text, variadic names text[]) returns text language plpgsql immutable as $$
      declare limited text;
      begin
        foreach limited in array names loop
          if current_setting(limited) <> '0' then raise exception '% applies', limited; end if;
        end loop;
        return value;
      end $$`;
  const inTransaction = `select unlimited('', ${limits.map((limit) => `'${limit}'`).join()})`;
  await addMigrations(inTransaction);
  expect(await migrate({ pooled: true })).toMatchObject({ applied: 1 });
  const index = indexNamed("unlimited_idx", "unlimited(name, 'statement_timeout')");
  await addMigrations(`${inTransaction}, 2`, index);
  expect(await migrate()).toMatchObject({ applied: 2 });
});
