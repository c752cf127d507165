import type { Sql, TransactionSql } from "postgres";

/** The connection is gone or going; whatever is said on it now has no reader. */
const LOST = /^(CONNECTION_|CONNECT_|ECONN|EPIPE$|ETIMEDOUT$|57P0[1-5]$|25P03$)/;

type Task = (tx: TransactionSql) => Promise<unknown>;

/** One transaction, until its connection is lost or the driver is done with it. */
type Life = { isOver: boolean };

/**
 * Makes transactions of this client survive the loss of their connection. The driver commits or rolls back whenever a
 * task settles, also after that loss: on a connection that is no more, of which the whole process dies, or on the same one
 * made anew, where that ends a stranger's transaction. So it never hears of a task whose connection is lost; it has
 * noticed the loss by itself, and rejects. What such a task still asks for is refused: it would run in a stranger's
 * transaction, or outside of any.
 */
export function surviveLoss(sql: Sql): Sql {
  const begin = sql.begin as (task: Task) => Promise<unknown>;
  return Object.assign(sql, {
    begin: (task: Task) =>
      new Promise((resolve, reject) => {
        const life: Life = { isOver: false };
        const told = begin(
          (tx) =>
            new Promise((commit, rollBack) => {
              task(whileOpen(tx, life)).then(
                (value) => life.isOver || commit(value),
                (error) => (life.isOver ? reject(error) : rollBack(error)),
              );
            }),
        );
        told.finally(() => (life.isOver = true)).then(resolve, reject);
      }),
  });
}

/** The transaction, which runs no statement once it is over, and is over as soon as one was lost. */
function whileOpen(tx: TransactionSql, life: Life): TransactionSql {
  return new Proxy(tx, {
    apply: (target, self, args) =>
      isTemplate(args[0])
        ? askWhileOpen(life, () => Reflect.apply(target, self, args))
        : Reflect.apply(target, self, args),
    get: (target, name) => {
      if (name === "unsafe")
        return (...args: unknown[]) => askWhileOpen(life, () => Reflect.apply(target.unsafe, target, args));
      if (name === "savepoint") return (task: Task) => savepoint(target, task, life);
      return Reflect.get(target, name);
    },
  });
}

/** A statement, not a list or a name to stand inside of one. */
function isTemplate(first: unknown): boolean {
  return Array.isArray(first) && "raw" in first;
}

function askWhileOpen(life: Life, ask: () => Promise<unknown>): Promise<unknown> {
  if (life.isOver) return refused();
  const query = ask();
  // The first reaction, before the task has its own. By the prototype, since the query's own `then` would send it.
  Promise.prototype.then.call(query, undefined, (error) => {
    if (isLost(error)) life.isOver = true;
  });
  return query;
}

/** As the driver's own, which says what it does to a lost connection in the same way. */
function savepoint(tx: TransactionSql, task: Task, life: Life): Promise<unknown> {
  if (life.isOver) return refused();
  let own: unknown;
  const done = tx.savepoint(
    (nested) =>
      new Promise((keep, undo) => {
        task(whileOpen(nested, life)).then(
          (value) => life.isOver || keep(value),
          (error) => {
            own = error;
            if (!life.isOver) undo(error);
          },
        );
      }),
  );
  // What is not the task's own fault is that of the driver's statements around it.
  done.catch((error) => {
    if (error !== own && isLost(error)) life.isOver = true;
  });
  return done;
}

function refused(): Promise<never> {
  const fault = Promise.reject(
    Object.assign(new Error("The transaction is over: its connection was lost."), {
      code: "CONNECTION_CLOSED",
    }),
  );
  // A statement that nobody waits for, or that stands inside of another, is none to die of.
  fault.catch(() => {});
  return Object.assign(fault, { values: () => fault });
}

/** The driver's own error lies under Drizzle's. */
function isLost(error: unknown): boolean {
  for (let e: unknown = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if ("code" in e && typeof e.code === "string") return LOST.test(e.code);
  }
  return false;
}
