import type { Sql, TransactionSql } from "postgres";
import { findFault } from "../faults";
import type { OnWait } from "../gate";

/** Errors of a lost or closing connection. */
const LOST = /^(CONNECTION_|CONNECT_|ECONN|EPIPE$|ETIMEDOUT$|57P0[1-5]$|25P03$)/;

type Task = (tx: TransactionSql) => Promise<unknown>;

/** The state of one transaction. It is over when its connection is lost or the driver has completed it. */
type Life = { isOver: boolean };

/**
 * Makes transactions of this client safe when their connection is lost. The driver sends COMMIT or ROLLBACK
 * when a task settles, even after the loss. On a closed connection, this crashes the process; on the reopened
 * one, it ends the transaction of another task. So a task whose connection is lost never settles for the
 * driver, which detects the loss by itself and rejects. Further statements of such a task are rejected,
 * because they would run in another task's transaction or outside of any. `onWait` gets the time from the
 * call to the start of a transaction.
 */
export function guardTransactions(sql: Sql, onWait?: OnWait): Sql {
  const begin = sql.begin as (task: Task) => Promise<unknown>;
  return Object.assign(sql, {
    begin: (task: Task) =>
      new Promise((resolve, reject) => {
        const life: Life = { isOver: false };
        const requestedMs = performance.now();
        const driverResult = begin(
          (tx) =>
            new Promise((commit, rollBack) => {
              onWait?.(performance.now() - requestedMs);
              task(whileOpen(tx, life)).then(
                (value) => life.isOver || commit(value),
                (error) => (life.isOver ? reject(error) : rollBack(error)),
              );
            }),
        );
        driverResult.finally(() => (life.isOver = true)).then(resolve, reject);
      }),
  });
}

/**
 * The transaction, which rejects statements once it is over. A lost connection during a statement ends it.
 */
function whileOpen(tx: TransactionSql, life: Life): TransactionSql {
  return new Proxy(tx, {
    apply: (target, self, args) =>
      isTemplate(args[0])
        ? runWhileOpen(life, () => Reflect.apply(target, self, args))
        : Reflect.apply(target, self, args),
    get: (target, name) => {
      if (name === "unsafe")
        return (...args: unknown[]) => runWhileOpen(life, () => Reflect.apply(target.unsafe, target, args));
      if (name === "savepoint") return (task: Task) => savepoint(target, task, life);
      return Reflect.get(target, name);
    },
  });
}

/**
 * Whether the first argument is a template, that is, a statement. Lists and identifiers are fragments of
 * statements.
 */
const isTemplate = (first: unknown): boolean => Array.isArray(first) && "raw" in first;

function runWhileOpen(life: Life, run: () => Promise<unknown>): Promise<unknown> {
  if (life.isOver) return rejectStatement();
  const query = run();
  // Attached before the task's own handlers. Uses the prototype's `then`, because the query's `then` would
  // send the query.
  Promise.prototype.then.call(query, undefined, (error) => {
    if (isLost(error)) life.isOver = true;
  });
  return query;
}

/** Replaces the driver's savepoint, which has the same problem after a lost connection. */
function savepoint(tx: TransactionSql, task: Task, life: Life): Promise<unknown> {
  if (life.isOver) return rejectStatement();
  let taskError: unknown;
  const done = tx.savepoint(
    (nested) =>
      new Promise((keep, undo) => {
        task(whileOpen(nested, life)).then(
          (value) => life.isOver || keep(value),
          (error) => {
            taskError = error;
            if (!life.isOver) undo(error);
          },
        );
      }),
  );
  // An error that is not the task's comes from the driver's own savepoint statements.
  done.catch((error) => {
    if (error !== taskError && isLost(error)) life.isOver = true;
  });
  return done;
}

function rejectStatement(): Promise<never> {
  const fault = Promise.reject(
    Object.assign(new Error("The transaction is over: its connection was lost."), {
      code: "CONNECTION_CLOSED",
    }),
  );
  // An unawaited statement, or a fragment inside another, must not cause an unhandled rejection.
  fault.catch(() => {});
  return Object.assign(fault, { values: () => fault });
}

const isLost = (error: unknown): boolean => LOST.test(findFault(error)?.code ?? "");
