import { SettingsError } from "#server/platform/env/settings";
import { OperatorError } from "../launcher/operator-error";
import { migrateProduction } from "./migrate-production";

/*
 * The last step of a build on Vercel. A production build checks the settings and migrates the database; a
 * failure fails the deployment. A preview does neither, because it can use the database of production.
 */
const { VERCEL_ENV: environment } = process.env;
try {
  const result =
    environment === "production"
      ? await migrateProduction(process.env)
      : `VERCEL_ENV is ${environment ?? "not set"}, not production: the database is not migrated.`;
  process.stdout.write(`${result}\n`);
} catch (error) {
  const isPlain = error instanceof OperatorError || error instanceof SettingsError;
  process.stderr.write(`The deployment failed.\n${isPlain ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
