import { setTimeout as wait } from "node:timers/promises";
import { sql } from "drizzle-orm";
import type { Db, HotSql } from "./client";
import { findFault, isLockTimeout, isRetryable } from "./faults";

/** A range of ids, as UUIDs: from the first one, up to but not including the second one. Null: no bound. */
export type IdRange = { from: string | null; to: string | null };
export type Partition = IdRange & { name: string; bytes: number };

/**
 * A table partitioned by ranges of one column. Its partitions are a chain without gaps from the lowest to the
 * highest id.
 */
export type PartitionedTable = { table: string; key: string };

/**
 * Why a change has to be repeated later: another transaction or process blocks it, a large partition is being
 * checked, it has later ids of a wrong clock, or the time is too near for a check.
 */
export type Postponement = "blocked" | "checking" | "later_ids" | "too_late";

/**
 * Serializes the changes of partitions: an arbitrary number that no other program on the same database uses.
 */
const PARTITION_LOCK = 7_067_381_207;
/**
 * A change that waits for a lock blocks later statements, so it waits only this long for each, and is
 * repeated in the next round. The sum is shorter than the time after which PostgreSQL looks for deadlocks, so
 * no other transaction is ended.
 */
const lockTimeoutMs = 100;
/**
 * Longer than `deadlock_timeout`, after which PostgreSQL cancels an autovacuum that blocks a lock. For a lock
 * that blocks no reads or writes while it is waited for.
 */
const vacuumTimeoutMs = 1_500;
/** A partition up to this size is scanned under the lock, which takes milliseconds. */
const scannedBytesMax = 2 ** 23;
/** With fewer rows, the statistics would say that each team has few of them. */
const sampledBytesMin = 2 ** 16;
/** While a large partition is checked, it accepts no ids after its future end. So that end is far ahead. */
const checkAheadDaysMin = 6;
/** The server continues a longer check by itself, and the next round finds it done. */
const checkMsMax = 10_000;
const dayMs = 86_400_000;

type Transaction = Parameters<Parameters<HotSql["begin"]>[1]>[0];

/** The lowest id (UUIDv7) of a time in ms. */
export function firstIdAt(ms: number): string {
  const hex = Math.floor(ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The time of an id in ms. */
export const timeOfId = (id: string): number => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);

/**
 * Whether this connection prunes partitions, although PostgreSQL 18 can crash then (see `PRUNING` in
 * client.ts).
 */
export async function prunesPartitions(db: Db): Promise<boolean> {
  const [row] = await db.execute<{ prunes: boolean }>(
    sql`select current_setting('enable_partition_pruning') = 'on'
      and current_setting('server_version_num')::int / 10000 = 18 as prunes`,
  );
  return row?.prunes === true;
}

/** The partitions of a table in ascending order. */
export async function listPartitions(sql: Pick<HotSql, "unsafe">, table: string): Promise<Partition[]> {
  return (await listAllPartitions(sql, [table])).get(table) ?? [];
}

/** The partitions of several tables, each in ascending order. */
export async function listAllPartitions(
  sql: Pick<HotSql, "unsafe">,
  tables: readonly string[],
): Promise<Map<string, Partition[]>> {
  const rows = await sql.unsafe<(Partition & { table: string })[]>(
    `select t.name as "table", c.relname as name, substring(b.bound from 'FROM \\(''([^'']+)') as "from",
       substring(b.bound from 'TO \\(''([^'']+)') as "to",
       coalesce(pg_relation_size(c.oid), 0)::float8 as bytes
     from unnest($1::text[]) as t(name) join pg_inherits i on i.inhparent = t.name::regclass
       join pg_class c on c.oid = i.inhrelid,
       lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
     order by "from" nulls first`,
    [[...tables]],
  );
  const partitions = new Map(tables.map((table) => [table, [] as Partition[]]));
  for (const { table, ...partition } of rows) partitions.get(table)?.push(partition);
  return partitions;
}

/**
 * Collects the statistics of partitions that have rows and no statistics yet. Autovacuum does so up to a
 * minute later. Until then a statement may find a row by an index that begins with its team but not with its
 * id, and reads all rows of the team.
 */
export async function analyzeNewPartitions(hot: HotSql, shouldContinue: () => boolean): Promise<void> {
  const partitions = await hot<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c
    where c.relkind = 'r' and c.relispartition and c.relnamespace = current_schema()::regnamespace
      and pg_relation_size(c.oid) >= ${sampledBytesMin}
      and not exists (select from pg_stats s where s.schemaname = current_schema() and s.tablename = c.relname)`;
  for (const { name } of partitions) if (shouldContinue()) await hot.unsafe(`analyze (skip_locked) ${name}`);
}

/**
 * Ends the partition that contains the id `at` before it, and adds a partition from `at` on, with the same
 * storage options. Rows of later ids move to it. Returns null when it is done, else why it has to be
 * repeated.
 */
export async function splitPartition(
  hot: HotSql,
  of: PartitionedTable,
  at: string,
): Promise<Postponement | null> {
  const { table, key } = of;
  const whole = (await listPartitions(hot, table)).find(
    ({ from, to }) => (from === null || from <= at) && (to === null || at < to),
  );
  if (!whole || whole.from === at) return null;
  const isSmall = whole.bytes <= scannedBytesMax;
  const postponement = isSmall ? null : await checkRange(hot, whole, key, at);
  if (postponement) return postponement;
  const isDone = await changePartitions(hot, [whole.name], async (tx) => {
    if (!(await isUnchanged(tx, table, [whole]))) return false;
    const added = `${table}_from_${formatStart(at)}`;
    await tx.unsafe(`alter table ${table} detach partition ${whole.name}`);
    const options = await readOptions(tx, whole.name);
    await tx.unsafe(
      `create table ${added} partition of ${table} ${formatBound({ from: at, to: whole.to })}${options}`,
    );
    if (isSmall) {
      const columns = await listColumns(tx, table);
      await tx.unsafe(
        `with moved as (delete from ${whole.name} where ${key} >= '${at}' returning ${columns})
         insert into ${added} (${columns}) select ${columns} from moved`,
      );
    }
    await tx.unsafe(
      `alter table ${table} attach partition ${whole.name} ${formatBound({ from: whole.from, to: at })}`,
    );
    await tx.unsafe(`alter table ${whole.name} drop constraint if exists partition_range`);
    return true;
  });
  return isDone ? null : "blocked";
}

/**
 * Frees the space of a partition whose rows were all deleted. False if it has rows, or has to be repeated.
 */
export async function truncatePartition(hot: HotSql, name: string): Promise<boolean> {
  if (await hasRows(hot, name)) return false;
  return changePartitions(hot, [name], async (tx) => {
    await tx.unsafe(`lock table ${name} in access exclusive mode`);
    if (await hasRows(tx, name)) return false;
    await tx.unsafe(`truncate ${name}`);
    return true;
  });
}

const hasRows = async (sql: Pick<HotSql, "unsafe">, name: string): Promise<boolean> =>
  (await sql.unsafe(`select from ${name} limit 1`)).length > 0;

/**
 * Removes an empty partition: the empty one before it gets its range. False if it has to be repeated, or one
 * has rows.
 */
export async function mergePartitions(
  hot: HotSql,
  { table }: PartitionedTable,
  [first, second]: [Partition, Partition],
): Promise<boolean> {
  return changePartitions(hot, [first.name, second.name], async (tx) => {
    if (!(await isUnchanged(tx, table, [first, second]))) return false;
    await tx.unsafe(`lock table ${first.name}, ${second.name} in access exclusive mode`);
    for (const { name } of [first, second]) if (await hasRows(tx, name)) return false;
    await tx.unsafe(`alter table ${table} detach partition ${first.name}`);
    await tx.unsafe(`drop table ${second.name}`);
    await tx.unsafe(
      `alter table ${table} attach partition ${first.name} ${formatBound({ from: first.from, to: second.to })}`,
    );
    return true;
  });
}

/**
 * Whether partitions still have the ranges that were read before the lock: another process may have changed
 * them.
 */
async function isUnchanged(tx: Transaction, table: string, partitions: Partition[]): Promise<boolean> {
  const now = await listPartitions(tx, table);
  return partitions.every(({ name, from, to }) =>
    now.some((one) => one.name === name && one.from === from && one.to === to),
  );
}

/**
 * Runs a change of these partitions in one transaction with a short lock timeout and without a statement
 * timeout. Returns false if another process changes partitions, a lock was not free, or `change` returned
 * false.
 */
export async function changePartitions(
  hot: HotSql,
  names: readonly string[],
  change: (tx: Transaction) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await hot.begin(async (tx) => {
      const [row] = await tx<{ isHeld: boolean }[]>`
        select set_config('statement_timeout', '0', true), set_config('lock_timeout', ${String(vacuumTimeoutMs)}, true),
          pg_try_advisory_xact_lock(${PARTITION_LOCK}::bigint) as "isHeld"`;
      if (!row?.isHeld) return false;
      // Ends an autovacuum, and keeps others away.
      for (const name of names) await tx.unsafe(`lock table ${name} in share update exclusive mode`);
      await tx`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`;
      return change(tx);
    });
  } catch (error) {
    if (isLockTimeout(error) || isRetryable(error)) return false;
    throw error;
  }
}

/**
 * Ensures by a constraint that a large partition has only ids before `at`, so that attaching it does not scan
 * it. The check reads the whole partition and blocks no reads or writes. A partition with later ids gets no
 * constraint, because it would reject each change of their rows. Returns null when it is ensured.
 */
async function checkRange(
  hot: HotSql,
  { name: table, from }: Partition,
  key: string,
  at: string,
): Promise<Postponement | null> {
  const [found] = await hot<{ definition: string; isValid: boolean }[]>`
    select pg_get_constraintdef(oid) as definition, convalidated as "isValid" from pg_constraint
    where conrelid = ${table}::text::regclass and conname = 'partition_range'`;
  const isSame = found?.definition.includes(at) === true;
  if (isSame && found.isValid) return null;
  const [now] = await hot<{ ms: number }[]>`select (extract(epoch from now()) * 1000)::float8 as ms`;
  if (!now || timeOfId(at) < now.ms + checkAheadDaysMin * dayMs) return "too_late";
  if (await hasIdsFrom(hot, { table, key }, at)) {
    if (found) await dropCheck(hot, table);
    return "later_ids";
  }
  const conditions = [...(from ? [`${key} >= '${from}'`] : []), `${key} < '${at}'`].join(" and ");
  const isAdded =
    isSame ||
    (await changePartitions(hot, [table], async (tx) => {
      await tx.unsafe(`alter table ${table} drop constraint if exists partition_range`);
      await tx.unsafe(`alter table ${table} add constraint partition_range check (${conditions}) not valid`);
      return true;
    }));
  return isAdded ? validateCheck(hot, table) : "blocked";
}

async function hasIdsFrom(hot: HotSql, { table, key }: PartitionedTable, at: string): Promise<boolean> {
  return hot.begin(async (tx) => {
    await tx`select set_config('statement_timeout', '0', true)`;
    return (await tx.unsafe(`select from ${table} where ${key} >= '${at}' limit 1`)).length > 0;
  });
}

async function validateCheck(hot: HotSql, table: string): Promise<Postponement | null> {
  // One message, so the server completes it even if this process ends.
  const validation = hot
    .unsafe(
      `set local statement_timeout = 0; set local lock_timeout = ${lockTimeoutMs};
       alter table ${table} validate constraint partition_range`,
    )
    .then(
      () => null,
      async (error) => {
        if (isLockTimeout(error) || isRetryable(error)) return "blocked";
        if (findFault(error)?.code !== "23514") throw error;
        await dropCheck(hot, table);
        return "later_ids";
      },
    );
  const timeout = new AbortController();
  const late = wait(checkMsMax, "checking" as const, { signal: timeout.signal }).catch(() => null);
  const result = await Promise.race([validation, late]).finally(() => timeout.abort());
  // An error after this time is found by the next round.
  validation.catch(() => {});
  return result;
}

const dropCheck = (hot: HotSql, table: string) =>
  changePartitions(hot, [table], async (tx) => {
    await tx.unsafe(`alter table ${table} drop constraint if exists partition_range`);
    return true;
  });

/**
 * Drops checks of partitions that were not divided in time: after a day more, they would reject new ids. It
 * happens if no process of this release ran for days, or each division was blocked.
 */
export async function dropOldChecks(hot: HotSql, nowMs: number): Promise<void> {
  const checks = await hot<{ table: string; definition: string }[]>`
    select conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition
    from pg_constraint where conname = 'partition_range'`;
  for (const { table, definition } of checks) {
    // The last constant: CHECK (((id >= '…'::uuid) AND (id < '…'::uuid)))
    const at = definition.split("'").at(-2);
    if (at && timeOfId(at) < nowMs + dayMs) await dropCheck(hot, table);
  }
}

/** A date as part of a name, with the time if it is not midnight (UTC). */
const formatStart = (id: string): string =>
  new Date(timeOfId(id))
    .toISOString()
    .slice(0, 19)
    .replace(/T00:00:00$/, "")
    .replaceAll(/\W/g, "")
    .toLowerCase();

const formatBound = ({ from, to }: IdRange): string =>
  `for values from (${from ? `'${from}'` : "minvalue"}) to (${to ? `'${to}'` : "maxvalue"})`;

async function readOptions(sql: Pick<HotSql, "unsafe">, table: string): Promise<string> {
  const [row] = await sql.unsafe<{ options: string[] | null }[]>(
    "select reloptions as options from pg_class where oid = $1::text::regclass",
    [table],
  );
  return row?.options ? ` with (${row.options.join(", ")})` : "";
}

async function listColumns(sql: Pick<HotSql, "unsafe">, table: string): Promise<string> {
  const [row] = await sql.unsafe<{ columns: string }[]>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = $1::text::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return row?.columns ?? "";
}
