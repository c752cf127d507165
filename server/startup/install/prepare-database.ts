import { setTimeout as wait } from "node:timers/promises";
import postgres from "postgres";
import { isDatabaseUnreachable } from "#db/faults";
import { type Migrated, type MigrateOptions, migrateDatabase } from "#db/migrate";
import type { Settings } from "#server/platform/env/settings";
import { errorFacts, type Log } from "#server/platform/log";
import { OperatorError } from "../launcher/operator-error";
import { explainDatabaseFault } from "./database-faults";

const RETRY_AFTER_MS = [500, 1_000, 2_000, 5_000, 10_000] as const;
const versionMin = 15;

/** Where migrations connect to, and how: past the pooler if the settings name a way. */
export function migrationOf(
  { unpooledUrl, isDatabasePooled }: Pick<Settings, "unpooledUrl" | "isDatabasePooled">,
  databaseUrl: string,
): { url: string; options: MigrateOptions } {
  const options = { pooled: isDatabasePooled && unpooledUrl === null, limitsRole: isDatabasePooled };
  return { url: unpooledUrl ?? databaseUrl, options };
}

/**
 * Migrates the database to the newest schema. Waits while the database is unreachable. Throws an
 * OperatorError for a permanent error: wrong password, missing database, version too old.
 */
export async function prepareDatabase(
  url: string,
  log: Log,
  signal: AbortSignal,
  options: MigrateOptions = {},
): Promise<Migrated> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await checkVersion(url);
      return await migrateDatabase(url, { ...options, onWait: () => log.warn("database.migration_waits") });
    } catch (error) {
      if (signal.aborted || !isDatabaseUnreachable(error)) throw explain(error);
      log.warn("database.away", errorFacts(error));
    }
    await wait(RETRY_AFTER_MS[Math.min(attempt, RETRY_AFTER_MS.length - 1)], undefined, { signal });
  }
}

async function checkVersion(url: string): Promise<void> {
  const sql = postgres(url, {
    max: 1,
    connect_timeout: 5,
    onnotice: () => {},
    fetch_types: false,
    prepare: false,
  });
  try {
    const [row] = await sql<
      { number: number }[]
    >`select current_setting('server_version_num')::int as number`;
    const version = Math.floor((row?.number ?? 0) / 10_000);
    if (version < versionMin)
      throw new OperatorError(
        `DATABASE_URL: PostgreSQL ${version} is not supported. Use version ${versionMin} or newer.`,
      );
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function explain(error: unknown): unknown {
  const reason = explainDatabaseFault(error);
  return reason ? new OperatorError(reason, { cause: error }) : error;
}
