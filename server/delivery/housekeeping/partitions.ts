import type { HotSql } from "#db/client";
import {
  firstIdAt,
  listPartitions,
  mergePartitions,
  type Partition,
  type PartitionedTable,
  readSize,
  splitPartition,
  timeOfId,
} from "#db/partitions";
import type { WorkerDeps } from "#server/deps";

/** The tables of emails. All of them have the ranges of the first one. */
export const EMAIL_TABLES = [
  { table: "emails", key: "id" },
  { table: "email_bodies", key: "email_id" },
  { table: "deliveries", key: "email_id" },
  { table: "attachments", key: "email_id" },
  { table: "captured_messages", key: "email_id" },
  { table: "email_events", key: "email_id" },
  { table: "email_terms", key: "email_id" },
] as const satisfies PartitionedTable[];

const REQUEST_TABLES = [{ table: "api_requests", key: "id" }] as const satisfies PartitionedTable[];

const dayMs = 86_400_000;
/** Each query without a range of ids reads all partitions, so there must be few. A week of emails can be many times more. */
const recipientsPerPartition = 3_000_000;
const spanDays = { min: 7, max: 365 };
/** Partitions are created for this period, and at least for two ranges. */
const aheadDaysMin = 30;
/** More than a round ever needs, so a fault of this policy cannot create partitions without end. */
const splitsMax = 100;

/**
 * Creates partitions for future ids. The volume of the last week determines whether one has a range of a week or of up to a year. Every id
 * has a partition at any time: the last one has no upper bound. Removes empty partitions of the past. A change that another
 * transaction blocks is repeated in the next round.
 */
export async function maintainPartitions(
  { hot, log }: Pick<WorkerDeps, "hot" | "log">,
  shouldContinue: () => boolean,
): Promise<void> {
  const [row] = await hot<{ nowMs: number; perDay: number }[]>`
    select (extract(epoch from now()) * 1000)::float8 as "nowMs", (select coalesce(sum(accepted), 0) / 7.0 from usage_days
      where day >= (now() at time zone 'utc')::date - 7)::float8 as "perDay"`;
  if (!row) return;
  const { nowMs, perDay } = row;
  const emailDays = Math.min(
    spanDays.max,
    Math.max(spanDays.min, Math.floor(recipientsPerPartition / perDay)),
  );
  for (const [tables, days] of [
    [EMAIL_TABLES, emailDays],
    [REQUEST_TABLES, spanDays.min],
  ] as const) {
    const [first, ...others] = tables;
    for (let n = 0; n < splitsMax && shouldContinue(); n++) {
      const at = findNextStart(await listPartitions(hot, first.table), nowMs, days);
      if (at === null) break;
      if (!(await splitPartition(hot, first, at))) {
        log.warn("partitions.postponed", { table: first.table });
        break;
      }
      log.info("partitions.added", { table: first.table, from: new Date(timeOfId(at)).toISOString() });
    }
    await mergeEmpty(hot, tables, nowMs);
    for (const table of others) if (shouldContinue()) await copyRanges(hot, table, first);
  }
}

/**
 * Where the next range must begin: within the time ahead, no partition covers more than two spans. Null if nothing is to do.
 */
export function findNextStart(partitions: Partition[], nowMs: number, days: number): string | null {
  const horizonMs = nowMs + Math.max(2 * days, aheadDaysMin) * dayMs;
  for (const { from, to } of partitions) {
    const startMs = Math.max(nowMs, from === null ? 0 : timeOfId(from));
    const endMs = to === null ? Number.POSITIVE_INFINITY : timeOfId(to);
    if (startMs < horizonMs && endMs - startMs > 2 * days * dayMs)
      return firstIdAt(Math.ceil(startMs / dayMs + days) * dayMs);
  }
  return null;
}

/** Gives a table the ranges of another one. */
async function copyRanges(hot: HotSql, table: PartitionedTable, of: PartitionedTable): Promise<void> {
  const starts = new Set((await listPartitions(hot, of.table)).map(({ from }) => from));
  const own = await listPartitions(hot, table.table);
  for (const start of starts)
    if (start !== null && !own.some(({ from }) => from === start)) await splitPartition(hot, table, start);
  for (const [index, second] of own.entries()) {
    const first = own[index - 1];
    if (first && !starts.has(second.from)) await mergePartitions(hot, table, [first, second]);
  }
}

/** Removes one partition of the past that is empty in all tables, as is the one before it. */
async function mergeEmpty(hot: HotSql, tables: readonly PartitionedTable[], nowMs: number): Promise<void> {
  const [first] = tables;
  if (!first) return;
  const past = (await listPartitions(hot, first.table)).filter(
    ({ to }) => to !== null && timeOfId(to) < nowMs,
  );
  const isEmpty = async (range: Partition) => {
    for (const { table } of tables) {
      const same = (await listPartitions(hot, table)).find(({ from }) => from === range.from);
      if (!same || (await readSize(hot, same.name)) > 0) return false;
    }
    return true;
  };
  for (const [index, second] of past.entries()) {
    const before = past[index - 1];
    if (before && (await isEmpty(before)) && (await isEmpty(second))) {
      await mergePartitions(hot, first, [before, second]);
      return;
    }
  }
}
