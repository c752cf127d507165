import { fileURLToPath } from "node:url";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import postgres from "postgres";
import { blanks, createDialer } from "./postgres-js/dial";
import { guardTransactions } from "./postgres-js/transaction";
import { findMissingLimits, setRoleLimits, withoutTimeLimits } from "./time-limits";

/** The advisory lock of a migration: an arbitrary number that no other program on the same database uses. */
export const MIGRATION_LOCK = 7_067_381_204;

const migrationsFolder = fileURLToPath(new URL("./migrations", import.meta.url));

/** The database belongs to another program, or to a version that cannot be migrated. */
export class ForeignDatabaseError extends Error {
  override name = "ForeignDatabaseError";
}

/** The number of migrations that the database had, and the number applied now. */
export type Migrated = { before: number; applied: number };

/**
 * Migrates the database to the newest schema, and adds the events of a restored dump to the feed of this cluster before new
 * events are written. Safe to run from several processes at once: one migrates, the others wait and have nothing to do. It
 * uses a transaction-level lock, which also works behind a transaction pooler. The role's time limits do not apply to it.
 * With `pooled` it sets them where they are missing.
 *
 * Throws `ForeignDatabaseError` without any change if the first recorded migration is not Backstamp's first migration.
 */
export async function migrateDatabase(
  url: string,
  { pooled = false }: { pooled?: boolean } = {},
): Promise<Migrated> {
  const sql = guardTransactions(
    postgres(url, {
      ...createDialer(url),
      connection: { application_name: `backstamp migrate${blanks}` },
      max: 2,
      onnotice: () => {},
      connect_timeout: 10,
      fetch_types: false,
      prepare: !pooled,
    }),
  );
  try {
    const missingLimits = pooled ? await findMissingLimits(drizzle(sql)) : [];
    withoutTimeLimits(sql);
    return await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
      const before = await requireOwnHistory(tx);
      await migrate(drizzle(sql), { migrationsFolder });
      await sql.begin((feed) => feed`select continue_event_feed()`);
      if (missingLimits.length > 0) await setRoleLimits(tx, missingLimits);
      return { before, applied: readMigrationFiles({ migrationsFolder }).length - before };
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** The number of applied migrations. Throws if they are not Backstamp's. */
async function requireOwnHistory(tx: postgres.TransactionSql): Promise<number> {
  const [table] = await tx<{ name: string | null }[]>`
    select to_regclass('drizzle.__drizzle_migrations')::text as name`;
  if (!table?.name) return 0;
  const applied = await tx<{ hash: string }[]>`
    select hash from drizzle.__drizzle_migrations order by created_at`;
  const [oldest] = applied;
  const [first] = readMigrationFiles({ migrationsFolder });
  if (oldest && oldest.hash !== first?.hash)
    throw new ForeignDatabaseError(
      "This database was not created by Backstamp: its first migration is different. Use a new database.",
    );
  return applied.length;
}
