/** The fields of a PostgreSQL or driver error that code may depend on. */
type PostgresFault = { code: string; constraint_name?: string; table_name?: string };

/** The driver's error inside Drizzle's error, whose message contains the SQL and its parameters. */
export function findFault(error: unknown): PostgresFault | null {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if ("code" in e && typeof e.code === "string") return e as PostgresFault & Error;
  }
  return null;
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  const fault = findFault(error);
  return fault?.code === "23505" && fault.constraint_name === constraint;
}

/**
 * A violation of the primary key, in a table whose only unique key it is. If it is partitioned, the error
 * names the partition.
 */
export function isDuplicateRow(error: unknown, table: string): boolean {
  const fault = findFault(error);
  const name = fault?.code === "23505" ? fault.table_name : undefined;
  return name === table || name?.startsWith(`${table}_`) === true;
}

/** A row refers to one that does not exist or was deleted meanwhile (SQLSTATE 23503). */
export const isReferenceMissing = (error: unknown): boolean => findFault(error)?.code === "23503";

/** Another transaction held a lock for longer than `lock_timeout` (SQLSTATE 55P03). */
export const isLockTimeout = (error: unknown): boolean => findFault(error)?.code === "55P03";

/** A statement ran longer than `statement_timeout` (SQLSTATE 57014). */
export const isStatementTimeout = (error: unknown): boolean => findFault(error)?.code === "57014";

const UNREACHABLE =
  /^(08|57P0|53|25006)|^(CONNECTION_|CONNECT_|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/;

/**
 * The database is unreachable, starting, stopping, full, read-only, busy (`db/gate`) or rejects connections.
 * No commit is confirmed, and the same call may succeed later. SQLSTATE classes 08, 53 and 57P0x, 25006, and
 * the connection codes of postgres.js and Node.
 */
export const isDatabaseUnreachable = (error: unknown): boolean =>
  UNREACHABLE.test(findFault(error)?.code ?? "");

/** The disk of the database is full, or it is read-only (SQLSTATE 53100, 25006). */
export const isWriteFault = (error: unknown): boolean =>
  ["53100", "25006"].includes(findFault(error)?.code ?? "");

/** Deadlock or serialization failure; the statement can be retried (SQLSTATE 40P01, 40001). */
export const isRetryable = (error: unknown): boolean =>
  ["40P01", "40001"].includes(findFault(error)?.code ?? "");

/**
 * A schema, table, column, function or type is missing (SQLSTATE class 42): the database is not migrated, or
 * the statement is wrong.
 */
export const isSchemaMissing = (error: unknown): boolean =>
  ["42P01", "42703", "42704", "42883", "3F000"].includes(findFault(error)?.code ?? "");

/**
 * The same statement may succeed later: the database is unreachable or busy, or another transaction was in
 * the way.
 */
export const isTransientFault = (error: unknown): boolean =>
  isDatabaseUnreachable(error) || isRetryable(error) || isLockTimeout(error) || isStatementTimeout(error);
