import { setTimeout as wait } from "node:timers/promises";
import postgres from "postgres";
import { isDatabaseAway } from "#db/faults";
import { migrateDatabase } from "#db/migrate";
import { errorFacts, type Log } from "#server/log";
import { explainDatabaseFault } from "./database-faults";
import { Refusal } from "./refusal";

const AGAIN_AFTER_MS = [500, 1_000, 2_000, 5_000, 10_000] as const;
const versionMin = 15;

/**
 * Brings the database to the newest schema. One that is away is waited for; one that will never do (wrong password, no
 * such database, too old) is a Refusal.
 */
export async function prepareDatabase(url: string, log: Log, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await checkVersion(url);
      return await migrateDatabase(url);
    } catch (error) {
      if (signal.aborted || !isDatabaseAway(error)) throw explain(error);
      log.warn("database.away", errorFacts(error));
    }
    await wait(AGAIN_AFTER_MS[Math.min(attempt, AGAIN_AFTER_MS.length - 1)], undefined, { signal });
  }
}

async function checkVersion(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {}, fetch_types: false });
  try {
    const [row] = await sql<
      { number: number }[]
    >`select current_setting('server_version_num')::int as number`;
    const version = Math.floor((row?.number ?? 0) / 10_000);
    if (version < versionMin)
      throw new Refusal(
        `DATABASE_URL: This is PostgreSQL ${version}. Give one of version ${versionMin} or newer.`,
      );
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function explain(error: unknown): unknown {
  const reason = explainDatabaseFault(error);
  return reason ? new Refusal(reason, { cause: error }) : error;
}
