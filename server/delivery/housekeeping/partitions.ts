import {
  dropOldChecks,
  firstIdAt,
  type IdRange,
  listAllPartitions,
  mergePartitions,
  type Partition,
  type PartitionedTable,
  splitPartition,
  timeOfId,
  truncatePartition,
} from "#db/partitions";
import type { WorkerDeps } from "#server/deps";
import { dayMs } from "#server/shared/durations";

/** The tables of emails. All of them have the ranges of the first one. */
export const EMAIL_TABLES = [
  { table: "emails", key: "id" },
  { table: "email_bodies", key: "email_id" },
  { table: "deliveries", key: "email_id" },
  { table: "attachments", key: "email_id" },
  { table: "captured_messages", key: "email_id" },
  { table: "email_events", key: "email_id" },
] as const satisfies PartitionedTable[];

/** The outbox of webhook events. Both tables have the ranges of the first one. */
export const WEBHOOK_TABLES = [
  { table: "webhook_deliveries", key: "id" },
  { table: "webhook_attempts", key: "delivery_id" },
] as const satisfies PartitionedTable[];

const REQUEST_TABLES = [{ table: "api_requests", key: "id" }] as const satisfies PartitionedTable[];

const ALL_TABLES = [...EMAIL_TABLES, ...REQUEST_TABLES, ...WEBHOOK_TABLES].map(({ table }) => table);

/**
 * Each query without a range of ids reads all partitions, so there must be few. A week of emails can be many
 * times more.
 */
const recipientsPerPartition = 3_000_000;
const spanDays = { min: 7, max: 365 };
/**
 * Requests are kept for 7 days and events for 30. Shorter ranges return their space earlier, but claims read
 * all partitions.
 */
const logDays = 15;
/** A range begins at least this long after it was created, or half of its length. */
const aheadDaysMin = 30;
/** More than a round ever needs, so a fault of this policy cannot create partitions without end. */
const splitsMax = 100;

/**
 * Creates partitions for future ids. The volume of the last week determines whether one has a range of a week
 * or of up to a year. Every id has a partition at any time: the last one has no upper bound. What retention
 * has emptied of the past returns its space, and two empty partitions become one. A change that another
 * transaction blocks is repeated in the next round.
 */
export async function maintainPartitions(
  { hot, log }: Pick<WorkerDeps, "hot" | "log">,
  shouldContinue: () => boolean,
): Promise<void> {
  const [row] = await hot<{ nowMs: number; perDay: number }[]>`
    select (extract(epoch from now()) * 1000)::float8 as "nowMs", (
        select coalesce(sum(c.received), 0) / 7.0 from teams t join recipient_totals c on c.team_id = t.id
          and c.dimension = 'all' and c.unit = 'day' and c.starts_at >= now() - interval '7 days'
      )::float8 as "perDay"`;
  if (!row) return;
  const { nowMs, perDay } = row;
  await dropOldChecks(hot, nowMs);
  // Most rounds change nothing, so they read the partitions of all tables at once.
  let known: Map<string, Partition[]> | null = null;
  const list = async ({ table }: PartitionedTable): Promise<Partition[]> => {
    known ??= await listAllPartitions(hot, ALL_TABLES);
    return known.get(table) ?? [];
  };
  const change = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    known = null;
    return run();
  };
  const split = async (table: PartitionedTable, at: string): Promise<boolean> => {
    const reason = await change(() => splitPartition(hot, table, at));
    if (reason !== null) log.warn("partitions.postponed", { table: table.table, reason });
    return reason === null;
  };
  const emailDays = Math.min(
    spanDays.max,
    Math.max(spanDays.min, Math.floor(recipientsPerPartition / perDay)),
  );
  for (const [tables, days] of [
    [EMAIL_TABLES, emailDays],
    [REQUEST_TABLES, logDays],
    [WEBHOOK_TABLES, logDays],
  ] as const) {
    const [first, ...others] = tables;
    for (let n = 0; n < splitsMax && shouldContinue(); n++) {
      const at = findNextStart(await list(first), nowMs, days);
      if (at === null || !(await split(first, at))) break;
      log.info("partitions.added", { table: first.table, from: new Date(timeOfId(at)).toISOString() });
    }
    for (const table of tables)
      for (const { name, bytes } of pastOf(await list(table), nowMs))
        if (bytes > 0 && shouldContinue() && (await change(() => truncatePartition(hot, name))))
          log.info("partitions.emptied", { table: table.table, bytes });
    const empty = findEmpty(await list(first), nowMs);
    if (empty) await change(() => mergePartitions(hot, first, empty));
    const starts = (await list(first)).flatMap(({ from }) => from ?? []);
    for (const table of others) {
      const own = await list(table);
      for (const start of starts)
        if (shouldContinue() && !own.some(({ from }) => from === start)) await split(table, start);
      for (const [index, second] of own.entries()) {
        const before = own[index - 1];
        if (before && second.from && !starts.includes(second.from))
          await change(() => mergePartitions(hot, table, [before, second]));
      }
    }
  }
}

const pastOf = (partitions: readonly Partition[], nowMs: number) =>
  partitions.filter(({ to }) => to !== null && timeOfId(to) < nowMs);

/**
 * Where the next range must begin: within the time ahead, no partition covers more than two spans. Null if
 * nothing is to do.
 */
export function findNextStart(partitions: readonly IdRange[], nowMs: number, days: number): string | null {
  const horizonMs = nowMs + Math.max(days / 2, aheadDaysMin) * dayMs;
  for (const { from, to } of partitions) {
    const startMs = Math.max(nowMs, from === null ? 0 : timeOfId(from));
    const endMs = to === null ? Number.POSITIVE_INFINITY : timeOfId(to);
    if (startMs < horizonMs && endMs - startMs > 2 * days * dayMs)
      return firstIdAt(Math.ceil(startMs / dayMs + days) * dayMs);
  }
  return null;
}

/**
 * Two empty partitions of the past to make one of. Null if there are none. A table with rows in this range
 * keeps both.
 */
function findEmpty(partitions: readonly Partition[], nowMs: number): [Partition, Partition] | null {
  const past = pastOf(partitions, nowMs);
  for (const [index, second] of past.entries()) {
    const before = past[index - 1];
    if (before?.bytes === 0 && second.bytes === 0) return [before, second];
  }
  return null;
}
