import { randomUUID } from "node:crypto";
import postgres, { type Sql } from "postgres";
import { inject } from "vitest";

let maintenance: Sql | undefined;

// One connection per test process, so that the clones a process asks for at once come one after another. PostgreSQL
// itself lets several sessions copy one template as long as none is connected to it.
function openMaintenance(): Sql {
  maintenance ??= postgres(inject("postgresUrl"), { max: 1, idle_timeout: 5, onnotice: () => {} });
  return maintenance;
}

/** A migrated, empty database that nobody else uses. `drop` ends whatever is still connected to it. */
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
