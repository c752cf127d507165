import { isDatabaseUnreachable } from "#db/faults";
import { readSettings } from "#server/platform/env/settings";
import { createProcessLog } from "#server/platform/process-log";
import { OperatorError } from "../launcher/operator-error";
import { migrationOf, prepareDatabase } from "./prepare-database";

/** Time that a build waits for a database that does not respond. */
const awayMsMax = 120_000;

/**
 * Checks the settings of a production deployment on Vercel and migrates its database. Returns what was done.
 * Throws a SettingsError, or an OperatorError that says what to check.
 */
export async function migrateProduction(
  env: Record<string, string | undefined>,
  waitMsMax = awayMsMax,
): Promise<string> {
  const settings = readSettings(env, "vercel");
  // Not null in this mode.
  const { url, options } = migrationOf(settings, settings.databaseUrl ?? "");
  const log = createProcessLog();
  const late = AbortSignal.timeout(waitMsMax);
  try {
    const done = await prepareDatabase(url, log, late, options);
    return done.applied > 0 ? "The database was migrated." : "The database is up to date.";
  } catch (error) {
    // Other errors, such as locked tables, can come as late, and have a reason of their own.
    const isAway = isAbort(error) || isDatabaseUnreachable(error);
    if (!late.aborted || !isAway) throw error;
    throw new OperatorError(
      `${settings.unpooledUrl === null ? "DATABASE_URL" : "DATABASE_URL_UNPOOLED"}: The database did not respond for ${waitMsMax / 1_000} s. Check that it is running and that Vercel may connect to it.`,
    );
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";
