import { ForeignDatabaseError, MigrationBlockedError, UnsupportedReleaseError } from "#db/compatibility";
import { isDatabaseUnreachable } from "#db/faults";
import { cli } from "#server/platform/env/cli";
import { SecretRejectedError } from "#server/platform/secrets/keyring";

const MIGRATE = `Migrate it first: ${cli} migrate`;

/** Permanent errors by SQLSTATE, with what the operator can do. */
const BY_CODE: Readonly<Record<string, string>> = {
  "28P01": "The database rejected the password in DATABASE_URL. Correct the password.",
  "28000": "The database rejected the user in DATABASE_URL. Use another user, or allow it in pg_hba.conf.",
  "3D000": "The database in DATABASE_URL does not exist. Create it first.",
  "42501": "The user in DATABASE_URL lacks a required privilege. Make it the owner of the database.",
  "42P01": `The database does not contain Backstamp's tables yet. ${MIGRATE}`,
  "42703": `The database schema has another version. ${MIGRATE}`,
};

/** Errors whose message is for the operator. */
const PLAIN = [ForeignDatabaseError, MigrationBlockedError, UnsupportedReleaseError, SecretRejectedError];

/** The operator's message for a database error: what is wrong and what to do. Null for an unknown error. */
export function explainDatabaseFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (PLAIN.some((kind) => error instanceof kind)) return error.message;
  // Drizzle's message contains the statement with its parameters, which can be personal data.
  const root = error.cause instanceof Error ? error.cause : error;
  const code = "code" in root && typeof root.code === "string" ? root.code : "";
  if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code] ?? null;
  return isDatabaseUnreachable(error)
    ? `The database is not reachable (${code}). Check that it is running and that DATABASE_URL is correct.`
    : null;
}
