import { sql } from "drizzle-orm";
import type { Db, HotSql } from "./client";
import { findFault, isLockTimeout, isRetryable } from "./faults";

/** A range of ids, as UUIDs: from the first one, up to but not including the second one. Null: no bound. */
export type IdRange = { from: string | null; to: string | null };
export type Partition = IdRange & { name: string };

/** A table partitioned by ranges of one column. Its partitions are a chain without gaps from the lowest to the highest id. */
export type PartitionedTable = { table: string; key: string };

/** Serializes the changes of partitions: an arbitrary number that no other program on the same database uses. */
const PARTITION_LOCK = 7_067_381_207;
/**
 * A change that waits for a lock blocks later statements, so it waits only this long for each, and is repeated in the next
 * round. The sum is shorter than the time after which PostgreSQL looks for deadlocks, so no other transaction is ended.
 */
const lockTimeoutMs = 100;
/** A partition up to this size is scanned under the lock, which takes milliseconds. */
const scannedBytesMax = 2 ** 23;

type Transaction = Parameters<Parameters<HotSql["begin"]>[1]>[0];

/** The lowest id (UUIDv7) of a time in ms. */
export function firstIdAt(ms: number): string {
  const hex = Math.floor(ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The time of an id in ms. */
export const timeOfId = (id: string): number => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);

/** Whether this connection prunes partitions, although PostgreSQL 18 can crash then (see `PRUNING` in client.ts). */
export async function prunesPartitions(db: Db): Promise<boolean> {
  const [row] = await db.execute<{ prunes: boolean }>(
    sql`select current_setting('enable_partition_pruning') = 'on'
      and current_setting('server_version_num')::int / 10000 = 18 as prunes`,
  );
  return row?.prunes === true;
}

/** The partitions of a table in ascending order. */
export async function listPartitions(sql: Pick<HotSql, "unsafe">, table: string): Promise<Partition[]> {
  const rows = await sql.unsafe<Partition[]>(
    `select c.relname as name, substring(b.bound from 'FROM \\(''([^'']+)') as "from",
       substring(b.bound from 'TO \\(''([^'']+)') as "to"
     from pg_inherits i join pg_class c on c.oid = i.inhrelid,
       lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
     where i.inhparent = $1::text::regclass order by "from" nulls first`,
    [table],
  );
  return [...rows];
}

/**
 * Ends the partition that contains the id `at` before it, and adds a partition from `at` on, with the same storage options. Rows
 * of later ids move to it. Returns false if it has to be repeated: another process changes partitions, a lock was not
 * free, or a large partition is still being checked or has rows of later ids.
 */
export async function splitPartition(hot: HotSql, of: PartitionedTable, at: string): Promise<boolean> {
  const { table, key } = of;
  const whole = (await listPartitions(hot, table)).find(
    ({ from, to }) => (from === null || from <= at) && (to === null || at < to),
  );
  if (!whole || whole.from === at) return true;
  const isSmall = (await readSize(hot, whole.name)) <= scannedBytesMax;
  if (!isSmall && !(await checkRange(hot, { table: whole.name, key }, { from: whole.from, to: at })))
    return false;
  return changePartitions(hot, async (tx) => {
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
}

/** Removes an empty partition: the empty one before it gets its range. False if it has to be repeated, or one has rows. */
export async function mergePartitions(
  hot: HotSql,
  { table }: PartitionedTable,
  [first, second]: [Partition, Partition],
): Promise<boolean> {
  return changePartitions(hot, async (tx) => {
    if (!(await isUnchanged(tx, table, [first, second]))) return false;
    await tx.unsafe(`lock table ${first.name}, ${second.name} in access exclusive mode`);
    for (const { name } of [first, second])
      if ((await tx.unsafe(`select from ${name} limit 1`)).length > 0) return false;
    await tx.unsafe(`alter table ${table} detach partition ${first.name}`);
    await tx.unsafe(`drop table ${second.name}`);
    await tx.unsafe(
      `alter table ${table} attach partition ${first.name} ${formatBound({ from: first.from, to: second.to })}`,
    );
    return true;
  });
}

/** Whether partitions still have the ranges that were read before the lock: another process may have changed them. */
async function isUnchanged(tx: Transaction, table: string, partitions: Partition[]): Promise<boolean> {
  const now = await listPartitions(tx, table);
  return partitions.every(({ name, from, to }) =>
    now.some((one) => one.name === name && one.from === from && one.to === to),
  );
}

/**
 * Runs a change of partitions in one transaction with a short lock timeout and without a statement timeout. Returns false if
 * another process changes partitions, a lock was not free, or `change` returned false.
 */
export async function changePartitions(
  hot: HotSql,
  change: (tx: Transaction) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await hot.begin(async (tx) => {
      await tx`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true), set_config('statement_timeout', '0', true)`;
      const [row] = await tx<{ isHeld: boolean }[]>`
        select pg_try_advisory_xact_lock(${PARTITION_LOCK}::bigint) as "isHeld"`;
      return row?.isHeld === true && (await change(tx));
    });
  } catch (error) {
    if (isLockTimeout(error) || isRetryable(error)) return false;
    throw error;
  }
}

/**
 * Ensures by a constraint that a large partition has only ids of a range, so that attaching it does not scan it. The check
 * reads the whole partition and blocks no reads or writes; it can take longer than this call, and the next one finds it done.
 */
async function checkRange(
  hot: HotSql,
  { table, key }: PartitionedTable,
  { from, to }: IdRange,
): Promise<boolean> {
  const [found] = await hot<{ definition: string; isValid: boolean }[]>`
    select pg_get_constraintdef(oid) as definition, convalidated as "isValid" from pg_constraint
    where conrelid = ${table}::text::regclass and conname = 'partition_range'`;
  if (found?.isValid && found.definition.includes(`${to}`)) return true;
  const conditions = [...(from ? [`${key} >= '${from}'`] : []), `${key} < '${to}'`].join(" and ");
  const isAdded = await changePartitions(hot, async (tx) => {
    await tx.unsafe(`alter table ${table} drop constraint if exists partition_range`);
    await tx.unsafe(`alter table ${table} add constraint partition_range check (${conditions}) not valid`);
    return true;
  });
  if (!isAdded) return false;
  try {
    return await changePartitions(hot, async (tx) => {
      await tx.unsafe(`alter table ${table} validate constraint partition_range`);
      return true;
    });
  } catch (error) {
    if (findFault(error)?.code !== "23514") throw error;
    // A process with a wrong clock has written later ids.
    await changePartitions(hot, async (tx) => {
      await tx.unsafe(`alter table ${table} drop constraint if exists partition_range`);
      return true;
    });
    return false;
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

export async function readSize(sql: Pick<HotSql, "unsafe">, table: string): Promise<number> {
  const [row] = await sql.unsafe<{ size: number }[]>(
    "select pg_relation_size($1::text::regclass)::float8 as size",
    [table],
  );
  return row?.size ?? 0;
}

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
