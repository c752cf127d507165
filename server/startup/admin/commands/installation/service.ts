import { drizzle } from "drizzle-orm/postgres-js";
import { findUnsupportedRelease } from "#db/compatibility";
import { isDatabaseUnreachable } from "#db/faults";
import { type Migrated, migrateDatabase } from "#db/migrate";
import { isMigrated } from "#db/schema-version";
import { startCommandOf } from "#server/platform/env/cli";
import { readSettings } from "#server/platform/env/settings";
import { createProcessLog } from "#server/platform/process-log";
import { NOT_MIGRATED } from "#server/services/health";
import { migrationOf } from "../../../install/prepare-database";
import { withConnection } from "../../../install/with-connection";
import { limitHeapGrowth } from "../../../launcher/heap-growth";
import { lowerPriority } from "../../../launcher/lower-priority";
import { OperatorError } from "../../../launcher/operator-error";
import { runWorker } from "../../../worker";
import { command } from "../../command";
import { findDatabase, withKeptSecret } from "../../connection";
import { withDatabase } from "../../session";
import { output, type Terminal } from "../../terminal";

export const migrate = command({
  run: async (terminal) => {
    // An embedded database that was started for this command is already migrated.
    const settings = readSettings(terminal.env, "dev");
    const done = await withDatabase(terminal, async ({ databaseUrl, migrated }) => {
      const { url, options } = migrationOf(settings, databaseUrl);
      return migrated ?? (await migrateDatabase(url, options));
    });
    return output(done, describeMigration(done));
  },
});

export const worker = command({
  help: `
It requires DATABASE_URL, BACKSTAMP_URL and BACKSTAMP_SECRET, or a running Backstamp with this data directory. It sends by
SMTP_URL. Any number of workers can run. Standard output is a log with one JSON object per line.`,
  run: work,
});

function describeMigration({ before, applied }: Migrated): string {
  if (applied <= 0) return "Already up to date.";
  if (before === 0) return "Created the tables.";
  return `Applied ${applied} migration${applied === 1 ? "" : "s"}.`;
}

async function work({ env, write, onStopSignals }: Terminal): Promise<undefined> {
  // Registered first: a signal during startup must stop the worker gracefully, too.
  const stopSignal = new Promise<NodeJS.Signals>((resolve) => {
    onStopSignals({ first: async (signal) => resolve(signal), again: async () => process.exit(1) });
  });
  const lenient = readSettings(env, "dev");
  // Workers with different modes would use different transports, so the mode of a running launcher applies.
  const found = await findDatabase(lenient, env);
  if (!found)
    throw new OperatorError(
      `DATABASE_URL is not set, and no Backstamp is running with ${lenient.dataDir}. Set DATABASE_URL, or start Backstamp: ${startCommandOf("start")}`,
    );
  const { mode, databaseUrl } = found;
  await requireTables(databaseUrl);
  const settings = { ...(await withKeptSecret(readSettings(env, mode))), databaseUrl };
  if (settings.secret === null)
    throw new OperatorError(
      "BACKSTAMP_SECRET is not set. Set the secret of the web process: workers decrypt DKIM keys and relay passwords with it, and sign links.",
    );
  const log = createProcessLog(write);
  lowerPriority();
  limitHeapGrowth();
  const stopping = new AbortController();
  void stopSignal.then(() => stopping.abort());
  const worker = await runWorker(settings, { log, signal: stopping.signal }).catch((error) => {
    if (stopping.signal.aborted) return null;
    throw error;
  });
  if (worker === null) return;
  log.info("worker.ready", { pid: process.pid, transport: settings.smtpUrl?.replace(/:.*/s, "") ?? "none" });
  log.info("worker.stopping", { signal: await stopSignal });
  await worker.stop();
  log.info("worker.stopped");
}

// Fails if the tables do not exist, lack a migration or do not support this release. An unreachable database
// passes: the worker itself waits for it.
async function requireTables(databaseUrl: string): Promise<void> {
  await withConnection(databaseUrl, 5, async (sql) => {
    await sql`select from workers limit 0`;
    const unsupported = await findUnsupportedRelease(sql);
    if (unsupported) throw unsupported;
    if (!(await isMigrated(drizzle(sql)))) throw new OperatorError(NOT_MIGRATED);
  }).catch((error) => {
    if (!isDatabaseUnreachable(error)) throw error;
  });
}
