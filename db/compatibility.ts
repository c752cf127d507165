import type { Sql } from "postgres";
import { findFault } from "./faults";

/** The release of this build: the version in package.json, which is not part of every bundle. */
export const RELEASE = "0.2.0";

/** The database belongs to another program, or to a version that cannot be migrated. */
export class ForeignDatabaseError extends Error {
  override name = "ForeignDatabaseError";
}

/** Other transactions kept the tables of a migration locked for too long. The migration changed nothing. */
export class MigrationBlockedError extends Error {
  override name = "MigrationBlockedError";
}

/** The database was migrated for a newer release, and no longer supports this one. */
export class UnsupportedReleaseError extends Error {
  override name = "UnsupportedReleaseError";

  constructor(oldest: string) {
    super(
      `The database was migrated for Backstamp ${oldest} or newer, and this is ${RELEASE}. Install ${oldest} or newer, ` +
        "or restore the backup from before the migration.",
    );
  }
}

/**
 * An error if the schema no longer supports this release, else null. A schema can be newer and still support
 * it, because neighbouring releases run side by side.
 */
export async function findUnsupportedRelease(
  sql: Pick<Sql, "unsafe">,
): Promise<UnsupportedReleaseError | null> {
  const [row] = await sql
    .unsafe<{ oldest: string }[]>("select oldest_release() as oldest")
    .catch((error: unknown) => {
      // Release 0.2.0 has no such function.
      if (findFault(error)?.code === "42883") return [];
      throw error;
    });
  return row && isOlder(RELEASE, row.oldest) ? new UnsupportedReleaseError(row.oldest) : null;
}

/** Compares versions by their numbers. */
function isOlder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((version) => version.split(".").map((part) => Number.parseInt(part, 10)));
  const place = [0, 1, 2].find((index) => a?.[index] !== b?.[index]);
  return place !== undefined && (a?.[place] ?? 0) < (b?.[place] ?? 0);
}
