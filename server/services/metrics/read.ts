import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { countPendingRecipients } from "./count";
import { type Granularity, listPeriods, type Period } from "./periods";
import { COUNT_COLUMNS } from "./states";
import { type MetricsRow, type RecipientCounts, rowsMax, type SumQuery, sumCounts } from "./sum";

const periodsMax = 10_000;

export type MetricsQuery = SumQuery & { timeZone: string; granularity: Granularity };

export type Metrics = {
  totals: RecipientCounts;
  /** Empty without dimensions. */
  rows: MetricsRow[];
  /** False while older events are still being counted. */
  isComplete: boolean;
};

/**
 * Recipients by their current status, with the email counted in the period in which it was accepted. Events
 * that the worker has not counted yet are counted first. With only the dimension `period`, periods without
 * email have rows, too.
 */
export async function getMetrics(ctx: Ctx, query: MetricsQuery): Promise<Metrics> {
  const { dimensions, filter } = query;
  if (dimensions.includes("email") && !filter.emailIds)
    throw new AppError("invalid", "The dimension `email` requires `email_id`: name the emails.");
  const periods = dimensions.includes("period") ? periodsOf(query) : [];
  const isComplete = filter.emailIds !== undefined || (await countPendingRecipients(ctx));
  const [totals, rows] = await Promise.all([
    // An email has a row for each of its tags.
    dimensions.includes("tag") ? sumCounts(ctx, { ...query, dimensions: [] }) : null,
    sumCounts(ctx, query, periods),
  ]);
  if (rows.length > rowsMax)
    throw new AppError(
      "invalid",
      `The result has more than ${rowsMax.toLocaleString("en")} rows. Request a shorter range, fewer dimensions or a filter.`,
    );
  const isFilled = dimensions.length === 1 && periods.length > 0;
  return {
    totals: addCounts(totals ?? rows),
    rows: dimensions.length === 0 ? [] : isFilled ? fillPeriods(rows, periods) : rows,
    isComplete,
  };
}

function periodsOf(query: MetricsQuery): Period[] {
  const periods = listPeriods(query, query.granularity, periodsMax);
  if (periods.length > periodsMax)
    throw new AppError(
      "invalid",
      `The range has more than ${periodsMax.toLocaleString("en")} periods. Request a shorter range or a larger \`granularity\`.`,
    );
  return periods;
}

const addCounts = (rows: readonly RecipientCounts[]): RecipientCounts =>
  Object.fromEntries(
    COUNT_COLUMNS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]),
  ) as RecipientCounts;

function fillPeriods(rows: readonly MetricsRow[], periods: readonly Period[]): MetricsRow[] {
  const byName = new Map(rows.map((row) => [row.period, row]));
  return periods.map(({ name }) => byName.get(name) ?? { period: name, ...addCounts([]) });
}
