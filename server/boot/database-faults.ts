import { isDatabaseAway } from "#db/faults";

const MIGRATE = "Bring it to this version first: npm run -s posthorn -- migrate";

/** What an operator can do about a SQLSTATE that no waiting mends. */
const BY_CODE: Readonly<Record<string, string>> = {
  "28P01": "The database refuses the password in DATABASE_URL. Give the right one.",
  "28000": "The database refuses the user in DATABASE_URL. Give another, or allow it in pg_hba.conf.",
  "3D000": "The database that DATABASE_URL names does not exist. Create it first.",
  "42501": "The database's user may not do that there. Make it the owner of the database.",
  "42P01": `The database has no tables of Posthorn yet. ${MIGRATE}`,
  "42703": `The database's tables are of another version. ${MIGRATE}`,
};

/** A database's fault in a sentence for the operator, with what would work; null where the fault is none that we know. */
export function explainDatabaseFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  // Drizzle's own message holds the statement with its parameters, which may be a person's.
  const root = error.cause instanceof Error ? error.cause : error;
  const code = "code" in root && typeof root.code === "string" ? root.code : "";
  if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code] ?? null;
  return isDatabaseAway(error)
    ? `The database cannot be reached (${code}). Is it running, and is DATABASE_URL right?`
    : null;
}
