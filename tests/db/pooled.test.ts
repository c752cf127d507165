import { setTimeout as wait } from "node:timers/promises";
import { sql } from "drizzle-orm";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase, TIME_LIMITS } from "#db/client";
import { migrateDatabase } from "#db/migrate";
import { workers } from "#db/schema/deliveries";
import { newId } from "#server/platform/ids";
import { createRoleDatabase } from "../support/database/role-database";
import { openDeps } from "../support/deps";
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from "../support/processes/pgbouncer";
import { callApi, startRest } from "../support/rest";

const suite = `through PgBouncer in transaction mode${pgbouncerMissing ? ` (skipped: ${pgbouncerMissing})` : ""}`;

describe.skipIf(pgbouncerMissing)(suite, () => {
  let database: Awaited<ReturnType<typeof createRoleDatabase>>;
  let pooler: PgBouncer;
  beforeAll(async () => {
    database = await createRoleDatabase();
    pooler = await startPgBouncer(database.url);
  });
  afterAll(async () => {
    await pooler.stop();
    await database.drop();
  });

  /** The alarms of readiness over a new pooler, whose connections have the role's current defaults. */
  async function readAlarms(): Promise<{ alarm: string; message: string }[]> {
    const fresh = await startPgBouncer(database.url);
    const { deps, close } = openDeps(fresh.url, { pooled: true });
    const server = await startRest(deps);
    try {
      await deps.db.insert(workers).values({ id: newId(), host: "test", pid: 1, transport: "relay" });
      const { status, body } = await callApi(server.baseUrl, "GET", "/api/health/ready");
      expect({ status, body }).toMatchObject({ status: 200 });
      return (body.alarms ?? []) as { alarm: string; message: string }[];
    } finally {
      await server.close();
      await close();
      await fresh.stop();
    }
  }

  async function readLimits(): Promise<Record<string, number>> {
    const fresh = await startPgBouncer(database.url);
    const sql = postgres(fresh.url, { max: 1, prepare: false, fetch_types: false });
    try {
      const rows = await sql<{ name: string; setting: string }[]>`
        select name, setting from pg_settings where name in ${sql(Object.keys(TIME_LIMITS))}`;
      return Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]));
    } finally {
      await sql.end();
      await fresh.stop();
    }
  }

  test("migrating gives the role the time limits that the pooler drops, and readiness names missing ones", async () => {
    await migrateDatabase(pooler.url);
    expect(await readLimits()).toEqual(Object.fromEntries(Object.keys(TIME_LIMITS).map((name) => [name, 0])));
    expect(await readAlarms()).toMatchObject([
      {
        alarm: "no_time_limits",
        count: 3,
        message: expect.stringMatching(/statement_timeout.*DATABASE_URL_UNPOOLED .* migrate/),
      },
    ]);
    await migrateDatabase(pooler.url, { pooled: true });
    expect(await readLimits()).toEqual(TIME_LIMITS);
    expect(await readAlarms()).toEqual([]);
  });

  const inDatabase = async (what: string) => {
    const direct = postgres(database.url, { max: 1 });
    const [row] = await direct`select current_database() as name`;
    await direct.unsafe(`alter role current_user in database ${row?.name} ${what}`);
    await direct.end();
  };

  test("readiness reports a role that prunes partitions", async () => {
    await inDatabase("reset enable_partition_pruning");
    expect(await readAlarms()).toMatchObject([{ alarm: "partition_pruning" }]);
  });

  test("migrating keeps limits that the operator chose or switched off, and changes no other database of the role", async () => {
    await inDatabase("reset all");
    const direct = postgres(database.url, { max: 1 });
    await direct`alter role current_user set statement_timeout = '7s'`;
    await direct`alter role current_user set idle_in_transaction_session_timeout = 0`;
    await direct.end();
    await migrateDatabase(pooler.url, { pooled: true });
    expect(await readLimits()).toEqual({
      ...TIME_LIMITS,
      statement_timeout: 7_000,
      idle_in_transaction_session_timeout: 0,
    });
    const elsewhere = new URL(database.url);
    elsewhere.pathname = "/postgres";
    const other = postgres(elsewhere.href, { max: 1 });
    expect((await other`show lock_timeout`)[0]).toEqual({ lock_timeout: "0" });
    await other.end();
  });

  test("statements in parallel are answered with their own results", async () => {
    const options = { pooled: true, connectionsMax: 4, waitMsMax: 20_000 };
    const { db, hot, close } = openDatabase(pooler.url, options);
    const fetchOwn = (n: number) => [
      hot<{ word: string }[]>`select 'none' as word`,
      hot<{ n: number }[]>`select ${n}::int as n`,
      hot<{ word: string }[]>`select ${`word ${n}`}::text as word`,
      hot.unsafe<{ day: string }[]>("select $1::date::text as day", ["2026-01-02"]),
      hot.begin((tx) => tx<{ n: number }[]>`select ${n}::int + 1 as n`),
      db.execute<{ half: number }>(sql`select (${n}::int / 2.0)::float8 as half`),
    ];
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    const found = Promise.all(numbers.flatMap(fetchOwn));
    const answered = await Promise.race([found, wait(20_000, "some were never answered", { ref: false })]);
    await close();
    const expected = numbers.flatMap((n) => [
      { word: "none" },
      { n },
      { word: `word ${n}` },
      { day: "2026-01-02" },
      { n: n + 1 },
      { half: n / 2 },
    ]);
    expect(answered).toEqual(expected.map((row) => [row]));
  });
});
