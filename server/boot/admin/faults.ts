import { isDatabaseAway } from "#db/faults";
import { SettingsError } from "#server/env";
import { AppError } from "#server/errors";
import { Refusal } from "../refusal";

const MIGRATE = "Bring it to this version first: npm run -s posthorn -- migrate";

/** What an operator can do about a SQLSTATE. */
const BY_CODE: Record<string, string> = {
  "28P01": "The database refuses the password in DATABASE_URL.",
  "28000": "The database refuses the user in DATABASE_URL.",
  "3D000": "The database that DATABASE_URL names does not exist. Create it first.",
  "42501": "The database's user may not do that there.",
  "42P01": `The database has no tables of Posthorn yet. ${MIGRATE}`,
  "42703": `The database's tables are of another version. ${MIGRATE}`,
};

/** A fault in a sentence for the operator's terminal: what was wrong, and where we know it, what would work. */
export function explainFault(error: unknown): string {
  if (error instanceof AppError || error instanceof Refusal || error instanceof SettingsError)
    return error.message;
  if (!(error instanceof Error)) return String(error);
  // Drizzle's own message holds the statement with its parameters, which may be a person's.
  const root = error.cause instanceof Error ? error.cause : error;
  const code = "code" in root && typeof root.code === "string" ? root.code : "";
  if (BY_CODE[code]) return BY_CODE[code];
  if (isDatabaseAway(error))
    return `The database cannot be reached (${code}). Is it running, and is DATABASE_URL right?`;
  return `This should not have happened: ${root.message || root.name}`;
}
