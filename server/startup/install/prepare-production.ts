import { isDatabaseUnreachable } from "#db/faults";
import { readSettings, SettingsError } from "#server/platform/env/settings";
import { createProcessLog } from "#server/platform/process-log";
import { OperatorError } from "../launcher/operator-error";
import { migrationOf, prepareDatabase } from "./prepare-database";

/*
 * The last step of a build on Vercel. A production build checks the settings and migrates the database; a failure fails the
 * deployment. A preview does neither, because it can use the database of production.
 */
const waitMaxMs = 120_000;

async function prepareProduction(): Promise<string> {
  const settings = readSettings(process.env, "vercel");
  // Not null in this mode.
  const { url, options } = migrationOf(settings, settings.databaseUrl ?? "");
  const log = createProcessLog();
  const late = AbortSignal.timeout(waitMaxMs);
  try {
    const done = await prepareDatabase(url, log, late, options);
    return done.applied > 0 ? "The database was migrated." : "The database is up to date.";
  } catch (error) {
    // Other errors, such as locked tables, can come as late, and have a reason of their own.
    const isAway = isAbort(error) || isDatabaseUnreachable(error);
    if (!late.aborted || !isAway) throw error;
    throw new OperatorError(
      `${settings.unpooledUrl === null ? "DATABASE_URL" : "DATABASE_URL_UNPOOLED"}: The database did not respond for ${waitMaxMs / 1_000} s. Check that it is running and that Vercel may connect to it.`,
    );
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

const { VERCEL_ENV: environment } = process.env;
try {
  const result =
    environment === "production"
      ? await prepareProduction()
      : `VERCEL_ENV is ${environment ?? "not set"}, not production: the database is not migrated.`;
  process.stdout.write(`${result}\n`);
} catch (error) {
  const isPlain = error instanceof OperatorError || error instanceof SettingsError;
  process.stderr.write(`The deployment failed.\n${isPlain ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
