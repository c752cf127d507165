import type { Sql, TransactionSql } from "postgres";

/** The connection is gone or going; whatever is said on it now has no reader. */
const LOST = /^(CONNECTION_|CONNECT_|ECONN|EPIPE$|ETIMEDOUT$|57P0[1-5]$|25P03$)/;

/**
 * Makes transactions of this client survive the loss of their connection. The driver rolls back after any failure, also
 * on a connection that is no more, and dies of that with the whole process. Here a task that fails because the
 * connection is lost is simply never heard of again: the driver has noticed the loss by itself, and rejects.
 */
export function surviveLoss(sql: Sql): Sql {
  const begin = sql.begin as (task: (tx: TransactionSql) => Promise<unknown>) => Promise<unknown>;
  return Object.assign(sql, {
    begin: (task: (tx: TransactionSql) => Promise<unknown>) =>
      begin((tx) =>
        task(tx).catch((error) => (isLost(error) ? new Promise(() => {}) : Promise.reject(error))),
      ),
  });
}

/** The driver's own error lies under Drizzle's. */
function isLost(error: unknown): boolean {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if ("code" in e && typeof e.code === "string") return LOST.test(e.code);
  }
  return false;
}
