import { readdir, readFile, writeFile } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import { startEmbeddedPostgres } from "#server/startup/postgres/embedded";
import { forAllTests } from "../../support/fixtures";
import { createBackupWorld, type Target } from "./backup-world";

const world = forAllTests(() => createBackupWorld());
let target: Target;
let plain: Buffer;
beforeAll(async () => {
  await world.source.send({ subject: "A subject to find" });
  await world.backUp("good.tar.gz.age");
  plain = await readFile(await world.backUp("good.tar.gz"));
  target = await world.target();
});

async function restoreBytes(name: string, bytes: Buffer, env = {}) {
  await writeFile(world.fileOf(name), bytes);
  return target.backstamp(["restore", world.fileOf(name)], env);
}

const tablesOfTarget = () => target.open().deps.hot`select from pg_tables where schemaname = 'public'`;

test.each([
  ["cut in the middle", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ["without its last bytes", (bytes: Buffer) => bytes.subarray(0, -20)],
  ["with a changed byte", (bytes: Buffer) => changed(bytes, Math.floor(bytes.length / 2))],
])("a backup %s is rejected, and the database stays empty", async (_, damage) => {
  const encrypted = await readFile(world.fileOf("good.tar.gz.age"));
  for (const bytes of [plain, encrypted])
    expect(await restoreBytes("damaged", damage(bytes))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is incomplete or damaged: .* Use another copy/),
    });
  expect(await tablesOfTarget()).toHaveLength(0);
});

const changed = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
};

test("changed rows in an intact archive are rejected", async () => {
  const archive = gunzipSync(plain);
  const at = archive.indexOf("A subject to find");
  const done = await restoreBytes("changed", gzipSync(changed(archive, at)));
  expect(done).toMatchObject({ code: 1, stderr: expect.stringContaining("the rows of emails differ") });
  expect(await tablesOfTarget()).toHaveLength(0);
});

test("a wrong or missing passphrase is rejected with what to do", async () => {
  const file = world.fileOf("good.tar.gz.age");
  const wrong = await target.backstamp(["restore", file], {
    BACKSTAMP_BACKUP_PASSPHRASE: "not the passphrase",
  });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("The passphrase does not open") });
  const none = await target.backstamp(["restore", file], { BACKSTAMP_BACKUP_PASSPHRASE: "" });
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("BACKSTAMP_BACKUP_PASSPHRASE") });
  const text = await restoreBytes("text", Buffer.from("select 1"));
  expect(text).toMatchObject({ code: 1, stderr: expect.stringContaining("is not a backup") });
  const missing = await target.backstamp(["restore", world.fileOf("missing")]);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be read (ENOENT)") });
});

test("a backup of a newer release is rejected", async () => {
  const { hot } = world.source;
  await hot`insert into drizzle.__drizzle_migrations (hash, created_at) values ('of a later release', 4000000000000)`;
  const file = await world.backUp("newer.tar.gz");
  await hot`delete from drizzle.__drizzle_migrations where hash = 'of a later release'`;
  const done = await target.backstamp(["restore", file]);
  expect(done).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Install the release of the backup"),
  });
  expect(await tablesOfTarget()).toHaveLength(0);
});

test("a database in use is rejected and stays as it is", async () => {
  const before = await world.source.rowCounts();
  const done = await world.backstamp(["restore", world.fileOf("good.tar.gz")]);
  expect(done).toMatchObject({ code: 1, stderr: expect.stringContaining("never overwrites") });
  expect(await world.source.rowCounts()).toEqual(before);
});

test("a database with tables of another program is rejected and stays as it is", async () => {
  const { hot } = target.open().deps;
  await hot`create table shop_orders (id int primary key)`;
  await hot`insert into shop_orders values (1)`;
  const done = await target.backstamp(["restore", world.fileOf("good.tar.gz")]);
  expect(done).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("tables of another program: shop_orders"),
  });
  expect(await hot`select id from shop_orders`).toEqual([{ id: 1 }]);
  expect(await tablesOfTarget()).toHaveLength(1);
});

test("an interrupted restore can be repeated, and leaves tables of other programs alone", async () => {
  // A restore that was interrupted before its rows were committed leaves the empty tables.
  expect(await target.backstamp(["migrate"])).toMatchObject({ code: 0 });
  const { hot } = target.open().deps;
  await hot`create table shop_items (order_id int references shop_orders)`;
  await hot`insert into shop_items values (1)`;
  expect(await target.backstamp(["restore", world.fileOf("good.tar.gz")])).toMatchObject({ code: 0 });
  expect(await hot`select subject from emails`).toEqual([{ subject: "A subject to find" }]);
  expect(await hot`select order_id from shop_items join shop_orders on id = order_id`).toEqual([
    { order_id: 1 },
  ]);
});

test("a failure after the rows are restored is reported as such, and a migration completes the restore", async () => {
  const other = await world.target();
  expect(await other.backstamp(["migrate"])).toMatchObject({ code: 0 });
  const { hot } = other.open().deps;
  await hot`alter function continue_event_feed() rename to kept`;
  await hot.unsafe(`create sequence calls; create function continue_event_feed() returns boolean language plpgsql as
    $$ begin if nextval('calls') > 1 then raise 'no space left'; end if; return kept(); end $$`);
  expect(await other.backstamp(["restore", world.fileOf("good.tar.gz")])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/The rows are restored .* failed: no space left\n.*migrate, then start/),
  });
  await hot.unsafe(
    "drop function continue_event_feed(); alter function kept() rename to continue_event_feed",
  );
  expect(await other.backstamp(["migrate"])).toMatchObject({ code: 0 });
  expect(await hot`select held from restores`).toEqual([{ held: 1 }]);
  expect(await hot`select subject from emails`).toEqual([{ subject: "A subject to find" }]);
});

test("a backup of a data directory without a database is rejected, and creates none", async () => {
  const env = { DATABASE_URL: "", BACKSTAMP_DATA_DIR: world.fileOf("mistyped") };
  const done = await world.backstamp(["backup", world.fileOf("new.tar.gz.age")], env);
  expect(done).toMatchObject({ code: 1, stderr: expect.stringContaining("contains no database") });
  expect(await readdir(world.folder)).not.toContain("mistyped");
});

test("a backup does not migrate a stopped embedded database", async () => {
  const dataDir = world.fileOf("stopped");
  const started = await startEmbeddedPostgres({ dataDir, log: silentLog, quick: true });
  await started.stop();
  const env = { DATABASE_URL: "", BACKSTAMP_DATA_DIR: dataDir };
  const done = await world.backstamp(["backup", world.fileOf("new.tar.gz.age")], env);
  expect(done).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("does not contain Backstamp's tables"),
  });
});
