import type { PgDatabase } from "drizzle-orm/pg-core";
import type { PostgresJsQueryResultHKT } from "drizzle-orm/postgres-js";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres, { type Sql } from "postgres";
import { createGate, type Gate, type OnWait } from "./gate";
import { ARRAY_TYPES } from "./postgres-js/array-types";
import { blanks, createDialer } from "./postgres-js/dial";
import { sendOneAtATime } from "./postgres-js/one-at-a-time";
import { guardTransactions } from "./postgres-js/transaction";

/** The common type of a connection and a transaction, so that services can run inside any transaction. */
export type Db = PgDatabase<PostgresJsQueryResultHKT>;

/**
 * The same database through postgres.js, for the few statements that run thousands of times per second.
 * Drizzle does not use named prepared statements, which would halve the throughput there.
 */
export type HotSql = Sql;

export type Database = { db: Db; hot: HotSql; close(): Promise<void> };

export type DatabaseOptions = {
  /** Maximum number of connections, both pools together. */
  connectionsMax?: number;
  /**
   * True behind a transaction pooler: no prepared statements, no session state. The time limits are then
   * those of the role, which `migrateDatabase` sets.
   */
  pooled?: boolean;
  applicationName?: string;
  /**
   * Maximum time in ms that a Drizzle statement waits for a connection. After it, it is rejected with
   * DatabaseBusy.
   */
  waitMsMax?: number;
  /**
   * Called with the time that a Drizzle statement or transaction (`general`), or a transaction of the hot
   * paths (`hot`), waited for a connection. Other hot statements have no wait that could be measured: the
   * driver sends them ahead on busy connections.
   */
  onWait?: (pool: "general" | "hot", waitedMs: number) => void;
};

/**
 * Limits of every connection in ms: waiting for a lock, running a statement, and pausing in a transaction.
 */
export const TIME_LIMITS = {
  lock_timeout: 10_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000,
} as const;

/**
 * PostgreSQL 18 (seen with 18.4) crashes when a statement has waited for a row that another one changed, and
 * then prunes partitions of any table: checking the row again frees what pruning needs
 * (tests/db/changed-rows.test.ts). Without pruning, a lookup costs an index step in each partition, and there
 * are few. Connections through a pooler have it from their role, which `migrate` sets (migration 0015).
 */
export const PRUNING = { enable_partition_pruning: "off" } as const;

/**
 * Each hot statement finds a few rows by their keys. One generic plan is used for all calls, because planning
 * each call takes longer than most of the calls. It is made when the statement is first prepared, possibly
 * with nearly empty tables, and stays while they grow until the next analysis. So it may not read a table as
 * a whole: there are no joins that do, and a page of a sequential scan costs more than an index lookup, not
 * less.
 *
 * A scan that cannot be avoided is not disabled. Before PostgreSQL 18 that would cost so much that all plans
 * looked equal, and one that reads whole partitions could be chosen (tests/deep/statement-reads.test.ts).
 */
const BY_KEYS = {
  plan_cache_mode: "force_generic_plan",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  seq_page_cost: "10",
  jit: "off",
} as const;

/**
 * Opens the two pools. Connections open on first use, so an unreachable database fails the query, not the
 * startup. A statement waits at most 10 s for a lock and runs at most 30 s.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { connectionsMax = 16, pooled = false, applicationName = "backstamp", waitMsMax = 2_000 } = options;
  const { onWait } = options;
  const openPool = (settings: object, max: number, onTransactionWait?: OnWait) =>
    guardTransactions(
      postgres(url, {
        connect_timeout: 5,
        prepare: !pooled,
        onnotice: () => {},
        fetch_types: false,
        types: ARRAY_TYPES,
        ...createDialer(url),
        connection: pooled
          ? { application_name: applicationName + blanks }
          : { application_name: applicationName, ...TIME_LIMITS, ...PRUNING, ...settings, options: blanks },
        max: Math.max(2, max),
      }),
      onTransactionWait,
    );
  const forDrizzle = openPool({}, Math.floor(connectionsMax / 2));
  const gate = createGate(forDrizzle.options.max, waitMsMax, onWait?.bind(null, "general"));
  const hot = openPool(BY_KEYS, Math.ceil(connectionsMax / 2), onWait?.bind(null, "hot"));
  return {
    db: drizzle(gated(forDrizzle, gate), { casing: "snake_case" }),
    hot: pooled ? sendOneAtATime(hot) : hot,
    close: async () => {
      await Promise.all([forDrizzle.end({ timeout: 5 }), hot.end({ timeout: 5 })]);
    },
  };
}

/**
 * The methods that Drizzle uses, `unsafe` and `begin`, behind the gate. A transaction passes the gate once.
 */
function gated(client: Sql, gate: Gate): Sql {
  const unsafe = (...statement: Parameters<Sql["unsafe"]>) => {
    let wantsArrays = false;
    // Starts a microtask later, because callers that need rows as arrays call `values()` directly after
    // `unsafe()`.
    const rows = Promise.resolve().then(() =>
      gate((): PromiseLike<unknown> => {
        const query = client.unsafe(...statement);
        return wantsArrays ? query.values() : query;
      }),
    );
    const values = () => {
      wantsArrays = true;
      return rows;
    };
    return Object.assign(rows, { values });
  };
  const begin = (task: Parameters<Sql["begin"]>[1]) => gate(() => client.begin(task));
  return { options: client.options, unsafe, begin } as unknown as Sql;
}
