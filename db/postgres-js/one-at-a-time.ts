import type { Sql } from "postgres";

type Statement = { options: { onexecute?(): boolean } };

/**
 * A client that sends a statement only on a connection that waits for no answer, as a transaction pooler
 * needs. The driver sends the first half of a statement with parameters (Parse, Flush) behind one that runs.
 * When that one is answered, PgBouncer (seen with 1.18) takes the server from the client, and passes the
 * second half (Bind, Execute) to another server. There it runs what was parsed last, with these parameters,
 * or waits forever.
 */
export function sendOneAtATime(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: (target, self, args) => occupyConnection(Reflect.apply(target, self, args)),
    get: (target, name) => {
      if (name !== "unsafe") return Reflect.get(target, name);
      return (...args: Parameters<Sql["unsafe"]>) => occupyConnection(target.unsafe(...args));
    },
  });
}

/** The driver asks `onexecute`, which its own transactions use, whether it may send more. */
function occupyConnection<Query>(query: Query): Query {
  if (query instanceof Promise) (query as unknown as Statement).options.onexecute = () => false;
  return query;
}
