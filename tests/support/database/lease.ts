import { setTimeout as wait } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { type Database, openDatabase } from "#db/client";
import { cloneDatabase, prepareTemplate, type TestDatabase } from "./postgres";
import { revocable } from "./revocable";

/** A database for one test, with connections that an earlier test of this process may have used. */
export type DatabaseLease = {
  url: string;
  /** The connections of a test without special options. Closing them leaves them open for the next test. */
  database: Database;
  /** Ends the test's use of the database. */
  release(): Promise<void>;
};

type Kept = TestDatabase & { connections: Database; cleaner: Sql };

/** The databases that no test uses, by their template. */
const kept = new Map<string, Kept[]>();

/**
 * Deleted rows keep their space and their index entries until a vacuum. With more of them, a database is not
 * used again, so that a test that counts reads does not depend on earlier ones.
 */
const rowsMax = 2_000;

/** Each connection costs a backend that reads the catalogs of its database. */
export const connectionsMax = 4;

/** No test of a busy machine gets the rejections of a process without free connections. */
const waitMsMax = 60_000;

/** How often, and after how many ms, it is checked again whether a test still uses its database. */
const roundsMax = 20;
const roundMs = 10;

/** No test opens connections of this name itself. */
const applicationName = "backstamp test";

/**
 * A database with what `prepare` wrote to an empty one, once per run. A copy of a database costs PostgreSQL
 * 40 ms, and its first statements twice as much, because each new connection reads the catalogs. So a test
 * gets the database and the connections of an earlier one whose rows were replaced by those of the template.
 * It gets a copy if there is none: while the earlier tests still run, or if they changed more than rows.
 */
export async function leaseDatabase(
  name: string,
  prepare: (url: string) => Promise<void>,
): Promise<DatabaseLease> {
  const template = await prepareTemplate(name, async (url) => {
    await prepare(url);
    await rememberRows(url);
  });
  const own = kept.get(template)?.pop() ?? (await openCopy(template));
  const { database, revoke } = revocable(own.connections);
  return {
    url: own.url,
    database,
    async release() {
      await revoke();
      if (await restoreRows(own.cleaner))
        return void kept.set(template, [...(kept.get(template) ?? []), own]);
      await Promise.all([own.connections.close(), own.cleaner.end()]);
      await own.drop();
    },
  };
}

async function openCopy(template: string): Promise<Kept> {
  const copy = await cloneDatabase(template);
  const cleaner = postgres(copy.url, {
    max: 1,
    onnotice: () => {},
    fetch_types: false,
    // Foreign keys and triggers of rows are not checked. Setting it later discards the plans of a session.
    connection: { session_replication_role: "replica" },
  });
  return {
    ...copy,
    cleaner,
    connections: openDatabase(copy.url, { connectionsMax, applicationName, waitMsMax }),
  };
}

/** The tables with statistics, which the planner uses. */
const ANALYZED = "select oid from pg_class where relkind in ('r', 'p') and oid >= 16384 and reltuples >= 0";

/** Adds to a template the function that gives a copy the rows of the template. */
async function rememberRows(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
    where nspname in ('public', 'drizzle') and relkind in ('r', 'p') and not relispartition`;
  const filled: string[] = [];
  for (const { name } of tables)
    if ((await sql.unsafe(`select from ${name} limit 1`)).length > 0) filled.push(name);
  await sql.unsafe(`
    create schema template;
    ${filled.map((name, at) => `create table template.rows_${at} as table ${name}`).join(";")};
    create table template.changes ();
    create table template.analyzed as ${ANALYZED};
    create function template.restore_rows() returns bigint language plpgsql as $$
    declare
      rows bigint;
      total bigint := 0;
    begin
      ${tables.map(({ name }) => `delete from ${name}; get diagnostics rows = row_count; total := total + rows`).join(";")};
      ${filled.map((name, at) => `insert into ${name} select * from template.rows_${at}`).join(";")};
      return total;
    end $$;
    create function template.note_change() returns event_trigger language plpgsql as $$
    begin
      insert into template.changes default values;
    end $$;
    create event trigger note_change on ddl_command_end execute function template.note_change()`);
  await sql.end();
}

/**
 * Replaces all rows by those of the template. Returns whether the database is then as a copy of the template:
 * no definition was changed, no table was analyzed, and no connection of the test is left.
 */
async function restoreRows(sql: Sql): Promise<boolean> {
  // A connection that the test has closed, or its last statement, can end a moment later.
  for (let round = 0; ; round += 1) {
    const [state] = await sql<{ isChanged: boolean; isInUse: boolean }[]>`
      select exists (select from template.changes)
          or exists (select from pg_db_role_setting where setdatabase = d.oid)
          or exists (${sql.unsafe(ANALYZED)} except table template.analyzed) as "isChanged",
        exists (select from pg_locks l where l.database = d.oid and l.pid <> pg_backend_pid())
          or exists (
            select from pg_stat_activity a
            where a.datid = d.oid and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
              and (a.state <> 'idle' or a.application_name <> ${applicationName})
          ) as "isInUse"
      from pg_database d where d.datname = current_database()`;
    if (state === undefined || state.isChanged || round === roundsMax) return false;
    if (!state.isInUse) break;
    await wait(roundMs);
  }
  const [restored] = await sql<{ rows: string }[]>`select template.restore_rows() as rows`;
  return Number(restored?.rows) <= rowsMax;
}
