import type { PgDatabase } from "drizzle-orm/pg-core";
import type { PostgresJsQueryResultHKT } from "drizzle-orm/postgres-js";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres, { type Sql } from "postgres";
import { ARRAY_TYPES } from "./array-types";
import { blanks, createDialer } from "./dial";
import { createGate, type Gate } from "./gate";
import * as apiKeys from "./schema/api-keys";
import * as apiRequests from "./schema/api-requests";
import * as attachments from "./schema/attachments";
import * as callbackTokens from "./schema/callback-tokens";
import * as deliveries from "./schema/deliveries";
import * as dkimKeys from "./schema/dkim-keys";
import * as domains from "./schema/domains";
import * as emails from "./schema/emails";
import * as events from "./schema/events";
import * as idempotency from "./schema/idempotency";
import * as relays from "./schema/relays";
import * as sendingDays from "./schema/sending-days";
import * as signInTokens from "./schema/sign-in-tokens";
import * as suppressions from "./schema/suppressions";
import * as systemMails from "./schema/system-mails";
import * as teams from "./schema/teams";
import * as templates from "./schema/templates";
import * as usage from "./schema/usage";
import * as webhooks from "./schema/webhooks";
import * as workers from "./schema/workers";
import { surviveLoss } from "./transaction";

const schema = {
  ...apiKeys,
  ...apiRequests,
  ...attachments,
  ...callbackTokens,
  ...deliveries,
  ...dkimKeys,
  ...domains,
  ...emails,
  ...events,
  ...idempotency,
  ...relays,
  ...sendingDays,
  ...signInTokens,
  ...suppressions,
  ...systemMails,
  ...teams,
  ...templates,
  ...usage,
  ...webhooks,
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
  /** How long a statement of Drizzle's may wait for a connection before it is refused as DatabaseBusy. */
  waitMsMax?: number;
};

const BOUNDS = {
  lock_timeout: 10_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000,
};

/**
 * Every hot statement finds its rows by keys, a few at a time. A prepared one keeps the plan that was best when it was
 * first run, and on tables that were empty then that is one which reads them whole: it must have no such choice. So one
 * plan does for all calls; left to itself PostgreSQL makes a new one for each, which takes longer than most of them.
 */
const BY_KEYS = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_material: "off",
  jit: "off",
} as const;

/**
 * Opens the two pools; connections are made when first needed, so a database that is down fails the query, not the start.
 * No statement waits for a lock longer than 10 s, and none runs longer than 30 s.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const connectionsMax = options.connectionsMax ?? 16;
  const common = {
    connect_timeout: 5,
    prepare: !options.pooled,
    onnotice: () => {},
    fetch_types: false,
    types: ARRAY_TYPES,
  };
  const name = options.applicationName ?? "posthorn";
  const named = { application_name: options.pooled ? name + blanks : name };
  const forDrizzle = surviveLoss(
    postgres(url, {
      ...common,
      ...createDialer(url),
      connection: options.pooled ? named : { ...named, ...BOUNDS, options: blanks },
      max: Math.max(2, Math.floor(connectionsMax / 2)),
    }),
  );
  const gate = createGate(forDrizzle.options.max, options.waitMsMax ?? 2_000);
  const hot = surviveLoss(
    postgres(url, {
      ...common,
      ...createDialer(url),
      connection: options.pooled ? named : { ...named, ...BOUNDS, ...BY_KEYS, options: blanks },
      max: Math.max(2, Math.ceil(connectionsMax / 2)),
    }),
  );
  return {
    db: drizzle(gated(forDrizzle, gate), { schema, casing: "snake_case" }),
    hot,
    close: async () => {
      await Promise.all([forDrizzle.end({ timeout: 5 }), hot.end({ timeout: 5 })]);
    },
  };
}

/** The client as Drizzle uses it, `unsafe` and `begin`, each behind the gate; a transaction passes it once. */
function gated(client: Sql, gate: Gate): Sql {
  const unsafe = (...statement: Parameters<Sql["unsafe"]>) => {
    let wantsArrays = false;
    // Begun a microtask later: whoever wants rows as arrays says so on the query itself, right after asking for it.
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
