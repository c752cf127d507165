import { Readable } from "node:stream";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { listTables } from "#db/backup/catalog";
import { loadBackup } from "#db/backup/load";
import { readSnapshot } from "#db/backup/snapshot";
import { listOwnTables, migrateDatabase } from "#db/migrate";
import { copyBackup } from "../support/database/copy-backup";
import { createRoleDatabase, type RoleDatabase } from "../support/database/role-database";

let databases: RoleDatabase[];
let [source, target]: Sql[] = [];
beforeAll(async () => {
  const first = await createRoleDatabase();
  await migrateDatabase(first.url);
  databases = [first, await copyDatabase(first)];
  [source, target] = databases.map(({ url }) => postgres(url, { max: 1, onnotice: () => {} }));
});
/** A copy with the same owner. */
async function copyDatabase({ url }: RoleDatabase): Promise<RoleDatabase> {
  const copy = new URL(url);
  const name = copy.pathname.slice(1);
  copy.pathname = `/${name}_copy`;
  const sql = postgres(inject("postgresUrl"), { max: 1, onnotice: () => {} });
  await sql.unsafe(`create database ${name}_copy template ${name} owner ${name}`);
  return {
    url: copy.href,
    endConnections: async () => {},
    async drop() {
      await sql.unsafe(`drop database ${name}_copy with (force)`);
      await sql.end();
    },
  };
}
afterAll(async () => {
  for (const sql of [source, target]) await sql?.end();
  for (const database of databases.reverse()) await database.drop();
});

// What a later migration could add: a partitioned table, a counter, a generated column, a cycle of foreign
// keys.
const LATER = `
  create table parts (id int, at date not null, twice int generated always as (id * 2) stored) partition by range (at);
  create table counted (id bigint generated always as identity primary key, other bigint references counted);`;

const withLater = () => listOwnTables().add("parts").add("counted");

test("each table of a migrated database is one of the migrations", async () => {
  const own = listOwnTables();
  expect((await listTables(source as never)).filter((name) => !own.has(name))).toEqual([]);
});

test("partitions, counters, generated columns and cyclic keys are restored by an ordinary role", async () => {
  for (const sql of [source, target]) await sql?.unsafe(LATER);
  await source?.unsafe(`
    create table parts_2026 partition of parts for values from ('2026-01-01') to ('2027-01-01') with (fillfactor = 70);
    create table parts_rest partition of parts default;
    insert into parts (id, at) values (1, '2026-05-01'), (2, '2030-01-01');
    insert into counted (other) values (null), (1);
    update counted set other = 2 where id = 1;`);
  await target?.unsafe(
    "create table parts_old partition of parts for values from ('2020-01-01') to ('2028-01-01')",
  );
  const [from = "", to = ""] = databases.map(({ url }) => url);
  await (await copyBackup(from)).load(to, withLater());
  expect(
    await target?.unsafe("select tableoid::regclass::text as part, id, twice from parts order by id"),
  ).toEqual([
    { part: "parts_2026", id: 1, twice: 2 },
    { part: "parts_rest", id: 2, twice: 4 },
  ]);
  expect(await target?.unsafe("select reloptions from pg_class where relname = 'parts_2026'")).toEqual([
    { reloptions: ["fillfactor=70"] },
  ]);
  expect(await target?.unsafe("insert into counted default values returning id")).toEqual([{ id: "3" }]);
  await expect(target?.unsafe("insert into counted (other) values (99)")).rejects.toMatchObject({
    code: "23503",
  });
});

test("a failed load changes nothing", async () => {
  const [, to = ""] = databases.map(({ url }) => url);
  const before = await target?.unsafe("select count(*)::int as n from counted");
  const { catalog } = await readSnapshot(to, async (snapshot) => snapshot);
  const load = loadBackup(to, catalog, {
    check: async () => {},
    own: withLater(),
    load: ({ loadRows }) =>
      loadRows("teams", ["id"], Readable.from(Buffer.from("not a uuid\n"), { objectMode: false })),
  });
  await expect(load).rejects.toThrow(/invalid input syntax/);
  expect(await target?.unsafe("select count(*)::int as n from counted")).toEqual(before);
  expect(
    await target?.unsafe("select from pg_constraint where contype = 'f' and convalidated"),
  ).not.toHaveLength(0);
});
