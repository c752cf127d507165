import { randomUUID } from "node:crypto";
import postgres, { type Sql } from "postgres";
import { inject } from "vitest";

let maintenance: Sql | undefined;

// One connection per test process, so that the clones that a process requests at once are created one after
// another.
// PostgreSQL itself lets several sessions copy one template as long as no session is connected to it.
function openMaintenance(): Sql {
  maintenance ??= postgres(inject("postgresUrl"), { max: 1, idle_timeout: 5, onnotice: () => {} });
  return maintenance;
}

/** A migrated, empty database for one test. `drop` ends all connections to it. */
export async function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const sql = openMaintenance();
  await sql`create database ${sql(name)} template ${sql(inject("postgresTemplate"))} strategy file_copy`;
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      await sql`drop database if exists ${sql(name)} with (force)`;
    },
  };
}
