import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import postgres from "postgres";
import { blanks, createDialer } from "./dial";
import { surviveLoss } from "./transaction";

/** Any number will do, so long as no other program on the same database uses it. */
const MIGRATION_LOCK = 7_067_381_204;

/**
 * Brings the database to the newest schema, and the events of a restored dump into the feed of this cluster, before
 * anything writes new ones. Safe to run from several processes at once: one migrates, the others wait and find nothing
 * to do. The lock is the transaction's own, so it also holds behind a transaction pooler.
 */
export async function migrateDatabase(url: string): Promise<void> {
  const sql = surviveLoss(
    postgres(url, {
      ...createDialer(url),
      connection: { application_name: `posthorn migrate${blanks}` },
      max: 2,
      onnotice: () => {},
      connect_timeout: 10,
      fetch_types: false,
    }),
  );
  try {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
      await migrate(drizzle(sql), {
        migrationsFolder: fileURLToPath(new URL("./migrations", import.meta.url)),
      });
      await sql`select continue_event_feed()`;
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}
