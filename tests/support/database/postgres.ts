import { randomUUID } from "node:crypto";
import postgres, { type Sql } from "postgres";
import { inject } from "vitest";
import { type Database, openDatabase } from "#db/client";

let maintenance: Sql | undefined;

// One connection per test process, so that the clones that a process requests at once are created one after
// another.
// PostgreSQL itself lets several sessions copy one template as long as no session is connected to it.
function openMaintenance(): Sql {
  maintenance ??= postgres(inject("postgresUrl"), { max: 1, idle_timeout: 5, onnotice: () => {} });
  return maintenance;
}

export type TestDatabase = {
  url: string;
  /** Ends all connections to it, too. */
  drop(): Promise<void>;
};

/** A migrated, empty database for one test. */
export const freshDatabase = (): Promise<TestDatabase> => cloneDatabase(inject("postgresTemplate"));

/** Connections to such a database, which is dropped when they are closed. */
export async function openFreshDatabase(): Promise<Database> {
  const { url, drop } = await freshDatabase();
  const database = openDatabase(url, { connectionsMax: 2 });
  return { ...database, close: () => database.close().then(drop) };
}

const prepared = new Map<string, Promise<string>>();

/**
 * The name of a database with what `prepare` wrote to an empty one. It runs once per run, in the first of the
 * test processes.
 */
export function prepareTemplate(name: string, prepare: (url: string) => Promise<void>): Promise<string> {
  const template = prepared.get(name) ?? prepareOnce(`${inject("postgresTemplate")}_${name}`, prepare);
  prepared.set(name, template);
  return template;
}

async function prepareOnce(template: string, prepare: (url: string) => Promise<void>): Promise<string> {
  const sql = postgres(inject("postgresUrl"), { max: 1, onnotice: () => {} });
  try {
    // The other test processes wait here. The lock ends with the connection.
    await sql`select pg_advisory_lock(hashtext(${template}))`;
    const found = await sql`select from pg_database where datname = ${template}`;
    if (found.length > 0) return template;
    const { url } = await freshDatabase();
    await prepare(url);
    await sql`alter database ${sql(new URL(url).pathname.slice(1))} rename to ${sql(template)}`;
    return template;
  } finally {
    await sql.end();
  }
}

/** A copy of a database that has no connections. */
export async function cloneDatabase(template: string): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const sql = openMaintenance();
  await sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`;
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      await sql`drop database if exists ${sql(name)} with (force)`;
    },
  };
}
