import type { Sql, TransactionSql } from "postgres";

/** The connection is gone or going; whatever is said on it now has no reader. */
const LOST = /^(CONNECTION_|CONNECT_|ECONN|EPIPE$|ETIMEDOUT$|57P0[1-5]$|25P03$)/;

type Task = (tx: TransactionSql) => Promise<unknown>;

/**
 * Makes transactions of this client survive the loss of their connection. The driver rolls back after any failure, also
 * on a connection that is no more, and dies of that with the whole process. Here a task that fails because the
 * connection is lost is simply never heard of again: the driver has noticed the loss by itself, and rejects.
 *
 * A task that was busy with something else meanwhile goes on to ask. The driver would put that on the same connection,
 * made anew and serving others: outside of every transaction, or inside a stranger's. It is refused instead.
 */
export function surviveLoss(sql: Sql): Sql {
  const begin = sql.begin as (task: Task) => Promise<unknown>;
  return Object.assign(sql, {
    begin: async (task: Task) => {
      let isOver = false;
      try {
        return await begin((tx) =>
          task(whileOpen(tx, () => !isOver)).catch((error) =>
            isLost(error) ? new Promise(() => {}) : Promise.reject(error),
          ),
        );
      } finally {
        isOver = true;
      }
    },
  });
}

/** The transaction, which runs no statement once it is over. */
function whileOpen(tx: TransactionSql, isOpen: () => boolean): TransactionSql {
  return new Proxy(tx, {
    apply: (target, self, args) =>
      isOpen() || !isTemplate(args[0]) ? Reflect.apply(target, self, args) : refused(),
    get: (target, name) => {
      if (name === "unsafe")
        return (...args: unknown[]) => (isOpen() ? Reflect.apply(target.unsafe, target, args) : refused());
      if (name === "savepoint")
        return (inner: Task) =>
          isOpen() ? target.savepoint((nested) => inner(whileOpen(nested, isOpen))) : refused();
      return Reflect.get(target, name);
    },
  });
}

/** A statement, not a list or a name to stand inside of one. */
function isTemplate(first: unknown): boolean {
  return Array.isArray(first) && "raw" in first;
}

function refused() {
  const fault = Promise.reject(
    Object.assign(new Error("The transaction is over: its connection was lost."), {
      code: "CONNECTION_CLOSED",
    }),
  );
  return Object.assign(fault, { values: () => fault });
}

/** The driver's own error lies under Drizzle's. */
function isLost(error: unknown): boolean {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if ("code" in e && typeof e.code === "string") return LOST.test(e.code);
  }
  return false;
}
