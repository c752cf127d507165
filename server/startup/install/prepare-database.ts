import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseUnreachable } from "#db/faults";
import { type Migrated, type MigrateOptions, migrateDatabase } from "#db/migrate";
import type { Settings } from "#server/platform/env/settings";
import { errorFacts, type Log } from "#server/platform/log";
import { OperatorError } from "../launcher/operator-error";
import { explainDatabaseFault } from "./database-faults";
import { withConnection } from "./with-connection";

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

const checkVersion = (url: string): Promise<void> =>
  withConnection(url, 5, async (sql) => {
    const [row] = await sql<
      { number: number }[]
    >`select current_setting('server_version_num')::int as number`;
    const version = Math.floor((row?.number ?? 0) / 10_000);
    if (version < versionMin)
      throw new OperatorError(
        `DATABASE_URL: PostgreSQL ${version} is not supported. Use version ${versionMin} or newer.`,
      );
  });

function explain(error: unknown): unknown {
  const reason = explainDatabaseFault(error);
  return reason ? new OperatorError(reason, { cause: error }) : error;
}
