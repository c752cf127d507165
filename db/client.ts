import type { PgDatabase } from "drizzle-orm/pg-core";
import type { PostgresJsQueryResultHKT } from "drizzle-orm/postgres-js";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres, { type Sql } from "postgres";
import * as apiKeys from "./schema/api-keys";
import * as deliveries from "./schema/deliveries";
import * as domains from "./schema/domains";
import * as emails from "./schema/emails";
import * as events from "./schema/events";
import * as idempotency from "./schema/idempotency";
import * as teams from "./schema/teams";
import * as templates from "./schema/templates";
import * as workers from "./schema/workers";

const schema = {
  ...apiKeys,
  ...deliveries,
  ...domains,
  ...emails,
  ...events,
  ...idempotency,
  ...teams,
  ...templates,
  ...workers,
};

/** The common parent of a connection and a transaction, so that a service composes inside any transaction. */
export type Db = PgDatabase<PostgresJsQueryResultHKT, typeof schema>;

/**
 * The same database through postgres.js itself, for the few statements that run thousands of times a second: Drizzle
 * never prepares its statements by name, which costs half of the throughput there.
 */
export type HotSql = Sql;

export type Database = { db: Db; hot: HotSql; close(): Promise<void> };

export type DatabaseOptions = {
  /** Connections at most, over both pools. */
  connectionsMax?: number;
  /** Behind a transaction pooler: no prepared statements, no session state. */
  pooled?: boolean;
  applicationName?: string;
};

/**
 * Opens the two pools; connections are made when first needed, so a database that is down fails the query, not the start.
 * No statement waits for a lock longer than 10 s, and none runs longer than 30 s.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const connectionsMax = options.connectionsMax ?? 16;
  const session = options.pooled
    ? {}
    : { lock_timeout: 10_000, statement_timeout: 30_000, idle_in_transaction_session_timeout: 30_000 };
  const common = {
    connect_timeout: 5,
    prepare: !options.pooled,
    onnotice: () => {},
    connection: { application_name: options.applicationName ?? "posthorn", ...session },
  };
  const forDrizzle = postgres(url, { ...common, max: Math.max(2, Math.floor(connectionsMax / 2)) });
  const hot = postgres(url, { ...common, max: Math.max(2, Math.ceil(connectionsMax / 2)) });
  return {
    db: drizzle(forDrizzle, { schema, casing: "snake_case" }),
    hot,
    close: async () => {
      await Promise.all([forDrizzle.end({ timeout: 5 }), hot.end({ timeout: 5 })]);
    },
  };
}
