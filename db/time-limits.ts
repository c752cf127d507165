import { sql } from "drizzle-orm";
import type { Sql, TransactionSql } from "postgres";
import { type Db, PRUNING, TIME_LIMITS } from "./client";
import { findFault } from "./faults";

type TimeLimit = keyof typeof TIME_LIMITS;
const names = Object.keys(TIME_LIMITS) as TimeLimit[];
const ROLE_DEFAULTS = { ...TIME_LIMITS, ...PRUNING };
type RoleDefault = keyof typeof ROLE_DEFAULTS;

/**
 * The time limits that a connection lacks: none on our own connections, all behind a pooler unless the role
 * has them. A limit is also missing if the operator set it to 0.
 */
export async function findMissingLimits(db: Db): Promise<TimeLimit[]> {
  const rows = await db.execute<{ name: TimeLimit }>(
    sql`select name from pg_settings where setting = '0' and name in ${names} order by name`,
  );
  return rows.map(({ name }) => name);
}

/** The settings, among these, that neither the connected role nor the database has a value for. */
export async function findUnsetDefaults(
  tx: TransactionSql,
  settings: readonly RoleDefault[],
): Promise<RoleDefault[]> {
  const rows = await tx<{ name: string }[]>`
    select split_part(unnest(setconfig), '=', 1) as name from pg_db_role_setting
    where setrole in (0, (select oid from pg_roles where rolname = current_user))
      and setdatabase in (0, (select oid from pg_database where datname = current_database()))`;
  const set = new Set(rows.map(({ name }) => name));
  return settings.filter((name) => !set.has(name));
}

/**
 * Sets these as defaults of the connected role in this database, because a transaction pooler drops the
 * parameters with which a connection starts. They apply to server connections opened from now on. Other
 * values stay. Does nothing if the role may not change its own defaults; readiness then reports what is
 * missing.
 */
export async function setRoleDefaults(tx: TransactionSql, settings: readonly RoleDefault[]): Promise<void> {
  const [row] = await tx<{ database: string }[]>`select quote_ident(current_database()) as database`;
  const statements = settings.map(
    (name) => `alter role current_user in database ${row?.database} set ${name} = ${ROLE_DEFAULTS[name]}`,
  );
  await tx
    .savepoint((nested) => nested.unsafe(statements.join(";")))
    .catch((error) => {
      if (findFault(error)?.code !== "42501") throw error;
    });
}

/** Removes the role's time limits from each transaction of this client, for work that may take longer. */
export function withoutTimeLimits(client: Sql): Sql {
  const clear = names.map((name) => `set local ${name} = 0`).join(";");
  const begin = client.begin as (task: (tx: TransactionSql) => Promise<unknown>) => Promise<unknown>;
  return Object.assign(client, {
    begin: (task: (tx: TransactionSql) => Promise<unknown>) =>
      begin(async (tx) => {
        await tx.unsafe(clear);
        return task(tx);
      }),
  });
}
