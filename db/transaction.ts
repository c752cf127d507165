import type { Sql, TransactionSql } from "postgres";

/** The connection is gone or going; whatever is said on it now has no reader. */
const LOST = /^(CONNECTION_|CONNECT_|ECONN|EPIPE$|ETIMEDOUT$|57P0[1-5]$|25P03$)/;

/**
 * A transaction of the driver's that survives the loss of its connection. The driver rolls back after any failure, also
 * on a connection that is no more, and dies of that with the whole process. Here a task that fails because the
 * connection is lost is simply never heard of again: the driver has noticed the loss by itself, and rejects.
 */
export function beginTransaction<T>(sql: Sql, task: (tx: TransactionSql) => Promise<T>): Promise<T> {
  const begun = sql.begin((tx) =>
    task(tx).catch((error) => (isLost(error) ? new Promise<T>(() => {}) : throwIt(error))),
  );
  return begun as Promise<T>;
}

function throwIt(error: unknown): never {
  throw error;
}

/** The driver's own error lies under Drizzle's. */
function isLost(error: unknown): boolean {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if ("code" in e && typeof e.code === "string") return LOST.test(e.code);
  }
  return false;
}
