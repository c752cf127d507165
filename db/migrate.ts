import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres, { type Sql, type TransactionSql } from "postgres";
import { ForeignDatabaseError, findUnsupportedRelease, MigrationBlockedError } from "./compatibility";
import { isLockTimeout, isRetryable } from "./faults";
import { applyFunctions, hasFunctions, readFunctions } from "./functions";
import { blanks, createDialer } from "./postgres-js/dial";
import { guardTransactions } from "./postgres-js/transaction";
import { findMissingLimits, findUnsetDefaults, setRoleDefaults, withoutTimeLimits } from "./time-limits";

/** The advisory lock of a run: an arbitrary number that no other program on the same database uses. */
export const MIGRATION_LOCK = 7_067_381_206;
/** The advisory lock of the transaction of one migration. Release 0.2.0 uses it for its whole run. */
const STEP_LOCK = 7_067_381_204;

const pollMs = 100;
/**
 * A statement that waits for the lock of a table blocks all later statements on that table. So it waits only
 * this long, and tries again after a pause in which they run.
 */
const lockTimeoutMs = 1_000;
/**
 * Triggers lock several tables in another order than statements do. Shorter than the time after which
 * PostgreSQL looks for deadlocks, so that the migration is repeated and no statement fails.
 */
const triggersLockTimeoutMs = 100;
const vacuumTimeoutMs = 1_500;
const RETRY_AFTER_MS = [250, 500, 1_000, 2_000, 5_000] as const;
const blockedMsMax = 10 * 60_000;
/** A shorter wait for another process that migrates is not worth a report. */
const reportWaitMs = 5_000;

const ownFolder = fileURLToPath(new URL("./migrations", import.meta.url));

/** The number of migrations that the database had, and the number applied now. */
export type Migrated = { before: number; applied: number };

export type MigrateOptions = {
  /** True if the URL leads to a transaction pooler. */
  pooled?: boolean;
  /**
   * Gives the role time limits where it has none, because programs connect through a pooler. Default: as
   * `pooled`.
   */
  limitsRole?: boolean;
  /** Default: the migrations of this build. */
  folder?: string;
  /**
   * Maximum time in ms that one migration waits for locks, and that the run waits for another process that
   * migrates.
   */
  blockedMsMax?: number;
  /** Called once if another process has been migrating for some seconds. */
  onWait?: () => void;
  /**
   * Runs when exactly the migrations of these times are applied, before the others. Programs that start
   * meanwhile wait.
   */
  load?: { at: readonly string[]; run(): Promise<void> };
};

type Migration = ReturnType<typeof readMigrationFiles>[number];

/**
 * Migrates the database to the newest schema of this build, replaces its functions and triggers if they
 * differ (`db/functions`), and adds the events of a restored dump to the feed of this cluster before new
 * events are written. Safe to run from several processes at once, also under load: one migrates, the others
 * wait and have nothing to do. Each migration is committed by itself. Migrations and functions of newer
 * builds remain. The role's time limits do not apply to it, except to an index that is built behind a pooler.
 *
 * Throws without any change: `ForeignDatabaseError` if the first recorded migration is not Backstamp's first
 * migration, `UnsupportedReleaseError` if the schema no longer supports this build. Throws
 * `MigrationBlockedError` after the earlier migrations were committed.
 */
export async function migrateDatabase(url: string, options: MigrateOptions = {}): Promise<Migrated> {
  const { pooled = false, limitsRole = pooled } = options;
  const migrations = readMigrationFiles({ migrationsFolder: options.folder ?? ownFolder });
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
    const missingLimits = limitsRole ? await findMissingLimits(drizzle(sql)) : [];
    withoutTimeLimits(sql);
    return await whileLocked(sql, options, async (tx) => {
      const applied = await readApplied(sql);
      requireOwnHistory(applied, migrations);
      const unsupported = await findUnsupportedRelease(sql);
      if (unsupported) throw unsupported;
      const times = new Set(applied.map(({ at }) => at));
      const pending = migrations.filter(({ folderMillis }) => !times.has(String(folderMillis)));
      const applyAll = async (some: Migration[]) => {
        for (const migration of some)
          await retryWhileBlocked(sql, options.blockedMsMax ?? blockedMsMax, () =>
            apply(sql, migration, pooled),
          );
      };
      if (options.load) {
        const { at, run } = options.load;
        await applyAll(pending.filter(({ folderMillis }) => at.includes(String(folderMillis))));
        await run();
        await applyAll(pending.filter(({ folderMillis }) => !at.includes(String(folderMillis))));
      } else await applyAll(pending);
      const known = new Set(migrations.map(({ folderMillis }) => String(folderMillis)));
      if (applied.every(({ at }) => known.has(at)))
        await retryWhileBlocked(sql, options.blockedMsMax ?? blockedMsMax, () =>
          replaceFunctions(sql, options.folder ?? ownFolder),
        );
      await sql.begin((feed) => feed`select continue_event_feed()`);
      // Also for a role or a server that the migrations have not seen.
      const unset = await findUnsetDefaults(tx, [...missingLimits, "enable_partition_pruning"]);
      if (unset.length > 0) await setRoleDefaults(tx, unset);
      return { before: applied.length, applied: pending.length };
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/**
 * Runs a task while a transaction of a separate connection holds the lock, which also works behind a
 * transaction pooler. `CREATE INDEX CONCURRENTLY` waits for all older snapshots. So the lock is polled,
 * because a waiting statement has a snapshot, and its statements have no parameters: the driver then uses the
 * simple protocol, in which the snapshot of a statement ends with it and not with the transaction.
 */
async function whileLocked<T>(
  sql: Sql,
  { blockedMsMax: waitMsMax = blockedMsMax, onWait }: MigrateOptions,
  task: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  let isReported = false;
  for (;;) {
    const done = await sql.begin(async (tx) => {
      const [row] = await tx.unsafe<{ isHeld: boolean }[]>(
        `select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as "isHeld"`,
      );
      return row?.isHeld ? { value: await task(tx) } : null;
    });
    if (done) return done.value as T;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > reportWaitMs && !isReported) {
      isReported = true;
      onWait?.();
    }
    if (waitedMs > waitMsMax)
      throw new MigrationBlockedError(
        "Another process kept the lock of the migration, so nothing was migrated. If no other migration is running, find " +
          "the process with select pid from pg_locks where locktype = 'advisory' and granted and end it, then migrate again.",
      );
    await wait(pollMs);
  }
}

/** An index that is built concurrently cannot be built in a transaction, and does not block writes. */
const isConcurrent = ({ sql }: Migration): boolean =>
  sql.some((statement) => /\bindex\s+concurrently\b/i.test(statement.replaceAll(/--.*$/gm, "")));

async function apply(sql: Sql, migration: Migration, pooled: boolean): Promise<void> {
  if (isConcurrent(migration)) await runOutsideTransaction(sql, migration, pooled);
  await sql.begin(async (tx) => {
    await tx`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`;
    await tx`select pg_advisory_xact_lock(${STEP_LOCK})`;
    const { folderMillis, hash } = migration;
    // Another process can have applied it if the connection with the run's lock was lost.
    if ((await readApplied(tx)).some(({ at }) => at === String(folderMillis))) return;
    if (!isConcurrent(migration)) for (const statement of migration.sql) await tx.unsafe(statement);
    await tx`create schema if not exists drizzle`;
    await tx`create table if not exists drizzle.__drizzle_migrations (
      id serial primary key, hash text not null, created_at bigint)`;
    await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`;
  });
}

async function replaceFunctions(sql: Sql, folder: string): Promise<void> {
  const functions = readFunctions(folder);
  if (!functions || (await hasFunctions(sql, functions))) return;
  await sql.begin(async (tx) => {
    await tx`select set_config('lock_timeout', ${String(triggersLockTimeoutMs)}, true)`;
    await tx`select pg_advisory_xact_lock(${STEP_LOCK})`;
    await applyFunctions(tx, functions);
  });
}

async function runOutsideTransaction(sql: Sql, migration: Migration, pooled: boolean): Promise<void> {
  const connection = await sql.reserve();
  try {
    // Behind a pooler, the setting would remain on a connection that others use.
    if (!pooled) await connection.unsafe("set statement_timeout = 0; set lock_timeout = 0");
    // A statement can return others, such as one for each partition of a table.
    for (const statement of migration.sql)
      for (const row of await connection.unsafe<{ statement: string }[]>(statement))
        await connection.unsafe(row.statement);
    if (!pooled) await connection.unsafe("reset statement_timeout; reset lock_timeout");
  } finally {
    connection.release();
  }
}

/**
 * PostgreSQL cancels an autovacuum that another lock waits for, but only after `deadlock_timeout`, which is
 * longer than migrations wait. The lock taken here blocks no reads or writes. A vacuum that prevents
 * wraparound is not canceled.
 */
async function endAutovacuums(sql: Sql): Promise<void> {
  const vacuumed = await sql.unsafe<{ name: string }[]>(
    `select distinct l.relation::regclass::text as name from pg_locks l join pg_class c on c.oid = l.relation
     where l.mode = 'ShareUpdateExclusiveLock' and l.granted and l.pid <> pg_backend_pid()
       and l.database = (select oid from pg_database where datname = current_database())
       and c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`,
  );
  for (const { name } of vacuumed)
    await sql
      .begin(async (tx) => {
        await tx.unsafe(`set local lock_timeout = '${vacuumTimeoutMs}'`);
        await tx.unsafe(`lock table ${name} in share update exclusive mode`);
      })
      .catch((error) => {
        if (!isLockTimeout(error) && !isRetryable(error)) throw error;
      });
}

async function retryWhileBlocked(sql: Sql, msMax: number, run: () => Promise<void>): Promise<void> {
  for (let attempt = 0, waitedMs = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isLockTimeout(error) && !isRetryable(error)) throw error;
      if (waitedMs >= msMax)
        throw new MigrationBlockedError(
          "Other transactions kept the tables locked, so the migration was not applied. Find the oldest ones with " +
            "select pid, now() - xact_start, query from pg_stat_activity where xact_start is not null order by 2 desc " +
            "and end them, then migrate again. A vacuum to prevent wraparound has to end by itself.",
          { cause: error },
        );
    }
    const pauseMs = RETRY_AFTER_MS[Math.min(attempt, RETRY_AFTER_MS.length - 1)] ?? 0;
    await wait(pauseMs);
    await endAutovacuums(sql);
    waitedMs += lockTimeoutMs + pauseMs;
  }
}

/** A migration: the hash of its text, and its time in ms since 1970 as text. */
export type Applied = { hash: string; at: string };

/**
 * The names of all tables that the migrations of this build create, including those that a later one drops.
 */
export function listOwnTables(folder = ownFolder): Set<string> {
  const statements = readMigrationFiles({ migrationsFolder: folder }).flatMap(({ sql }) => sql);
  const names = statements.flatMap((text) => [...text.matchAll(CREATED_TABLE)].map(([, name = ""]) => name));
  return new Set(names);
}

const CREATED_TABLE = /^create table (?:if not exists )?"?(\w+)"?/gim;

/** The migrations of this build, with the applied ones of a database. Neither is changed. */
export async function readMigrations(
  url: string,
  folder = ownFolder,
): Promise<{ known: Applied[]; applied: Applied[] }> {
  const sql = postgres(url, {
    ...createDialer(url),
    max: 1,
    connect_timeout: 10,
    fetch_types: false,
    prepare: false,
  });
  try {
    const known = readMigrationFiles({ migrationsFolder: folder });
    return {
      known: known.map(({ hash, folderMillis }) => ({ hash, at: String(folderMillis) })),
      applied: await readApplied(sql),
    };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** The applied migrations, the oldest first. */
async function readApplied(sql: Sql | TransactionSql): Promise<Applied[]> {
  const [table] = await sql<{ name: string | null }[]>`
    select to_regclass('drizzle.__drizzle_migrations')::text as name`;
  if (!table?.name) return [];
  return sql<Applied[]>`
    select hash, created_at::text as at from drizzle.__drizzle_migrations order by created_at`;
}

function requireOwnHistory([oldest]: Applied[], [first]: Migration[]): void {
  if (oldest && oldest.hash !== first?.hash)
    throw new ForeignDatabaseError(
      "This database was not created by Backstamp: its first migration is different. Use a new database.",
    );
}
