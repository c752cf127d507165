import type { Ctx } from "#server/deps";
import { dayMs, hourMs } from "#server/shared/durations";
import type { Period } from "./periods";
import { COUNT_COLUMNS, COUNT_OF_STATE, recipientStates } from "./states";

export const METRICS_DIMENSIONS = ["period", "domain", "email", "tag", "key", "provider"] as const;
export type MetricsDimension = (typeof METRICS_DIMENSIONS)[number];

/** Most rows of one result; a query returns one more to show that there are more. */
export const rowsMax = 10_000;

/** Recipients by the columns of `recipient_counts`. */
export type RecipientCounts = Record<(typeof COUNT_COLUMNS)[number], number>;

/** Only recipients that satisfy all of these; null or absent: all. */
export type MetricsFilter = {
  /** Names of the sender's domain. */
  domains?: readonly string[] | null;
  apiKeyId?: string | undefined;
  /** As `name:value`. */
  tag?: string | undefined;
  provider?: string | undefined;
  emailIds?: readonly string[] | undefined;
};

export type SumQuery = {
  /** Recipients of the emails that were accepted from the hour of `startAt` on, until before `endAt`. */
  startAt: Date;
  endAt: Date;
  dimensions: readonly MetricsDimension[];
  filter: MetricsFilter;
};

/** The counts of one combination of the dimensions. Only the requested dimensions are present. */
export type MetricsRow = RecipientCounts & {
  period?: string;
  domain?: string;
  email?: string;
  tag?: string;
  key?: string | null;
  provider?: string;
};

type Dimension = Exclude<MetricsDimension, "period">;

/** SQL: the value of each dimension in a row `c` of `recipient_counts` or `COUNTS_OF_EMAILS`. */
const COUNT_VALUES: Record<Dimension, string> = {
  domain: "c.domain",
  email: "c.email_id",
  tag: "c.tag",
  key: "c.api_key_id",
  provider: "c.provider",
};

/** SQL: the value of each dimension in a row `c` of `recipient_totals` of that dimension. */
const TOTAL_VALUES: Record<Dimension, string> = {
  domain: "c.value",
  email: "null",
  tag: "c.value",
  key: "nullif(c.value, '')",
  provider: "c.value",
};

/**
 * SQL: the same columns as `recipient_counts`, from the events of the emails in $2. The tag "" is for all
 * tags.
 */
const COUNTS_OF_EMAILS = `(
  with selected as materialized (
    select unnest($2::uuid[]) as id
  ), ${recipientStates({ includes: "true", wasCounted: "false" })}
  select $1::uuid as team_id, s.email_id, t.tag, 'hour' as unit, s.hour as starts_at, s.sender_domain as domain, s.api_key_id, s.provider,
    ${Object.entries(COUNT_OF_STATE)
      .map(([name, count]) => `${count} as ${name}`)
      .join(", ")},
    (exists (
      select from suppressions x where x.team_id = $1 and x.source_email_id = s.email_id and x.lists_only
        and x.address = (
          select lower(d.address) from deliveries d where d.team_id = $1 and d.email_id = s.email_id and d.id = s.delivery_id)
    ))::int as unsubscribed
  from state s cross join lateral (
    select '' as tag union select t.name || ':' || t.value from jsonb_to_recordset(s.tags) as t(name text, value text)
  ) t
  where s.status is not null
)`;

/** Adds a value to the parameters of a statement and returns its addParameter, such as `$3`. */
type AddParameter = (value: string | readonly string[]) => string;

/**
 * SQL: the rows of the time range. Whole days (UTC) are read from the rows of days and the rest from those of
 * hours: a month has some thirty times fewer rows. Periods that begin within a day need the rows of hours. A
 * range that ends within or after the current hour includes all of today.
 */
function rangeCondition(
  { clock }: Ctx,
  query: SumQuery,
  periods: readonly Period[],
  addParameter: AddParameter,
): string {
  const rowsOf = (unit: "hour" | "day", fromMs: number, untilMs: number) =>
    fromMs < untilMs
      ? [
          `c.unit = '${unit}' and c.starts_at >= ${addParameter(new Date(fromMs).toISOString())}::timestamptz
            and c.starts_at < ${addParameter(new Date(untilMs).toISOString())}::timestamptz`,
        ]
      : [];
  const [startMs, endMs] = [query.startAt.getTime(), query.endAt.getTime()];
  const firstDayMs = Math.ceil(startMs / dayMs) * dayMs;
  const isUntilNow = endMs > Math.floor(clock().getTime() / hourMs) * hourMs;
  const lastDayEndMs = (isUntilNow ? Math.ceil(endMs / dayMs) : Math.floor(endMs / dayMs)) * dayMs;
  const isByDay = periods.slice(1).every(({ startsAt }) => startsAt.getTime() % dayMs === 0);
  const parts =
    query.filter.emailIds || !isByDay || firstDayMs >= lastDayEndMs
      ? rowsOf("hour", startMs, endMs)
      : [
          ...rowsOf("hour", startMs, firstDayMs),
          ...rowsOf("day", firstDayMs, lastDayEndMs),
          ...rowsOf("hour", lastDayEndMs, endMs),
        ];
  return parts.length === 0 ? "false" : `(${parts.join(" or ")})`;
}

/**
 * SQL: the rows with the tag "", which is for all recipients, or those of all tags that were counted in the
 * time range: the index finds each of them, but would read all of the team's tags by the range alone.
 */
function tagCondition({ startAt, endAt, dimensions, filter }: SumQuery, addParameter: AddParameter): string {
  if (!dimensions.includes("tag")) return "c.tag = ''";
  if (filter.emailIds) return "c.tag <> ''";
  const time = (at: Date) => `${addParameter(at.toISOString())}::timestamptz`;
  return `c.tag = any (array(
    select distinct value from recipient_totals
    where team_id = $1 and dimension = 'tag' and unit = 'day'
      and starts_at between date_trunc('day', ${time(startAt)}, 'UTC') and ${time(endAt)}))`;
}

/**
 * SQL: the rows that a query reads, without the time range, and the value of each dimension in a row. A query
 * that groups and filters by at most one dimension reads the totals of that dimension: a month has up to
 * eighty times fewer rows.
 */
function sourceOf(
  query: SumQuery,
  addParameter: AddParameter,
): { table: string; values: Record<Dimension, string>; conditions: string[] } {
  const { domains, apiKeyId, tag, provider, emailIds } = query.filter;
  const filters = {
    ...(domains && { domain: domains }),
    ...(apiKeyId !== undefined && { key: [apiKeyId.toLowerCase()] }),
    ...(tag !== undefined && { tag: [tag] }),
    ...(provider !== undefined && { provider: [provider] }),
  } satisfies Partial<Record<Dimension, readonly string[]>>;
  const dimensions = query.dimensions.filter((name) => name !== "period");
  const [dimension = "all", second] = new Set([...dimensions, ...Object.keys(filters)]);
  if (emailIds || second)
    return {
      table: emailIds ? COUNTS_OF_EMAILS : "recipient_counts",
      values: COUNT_VALUES,
      conditions: [
        ...(filters.tag ? [] : [tagCondition(query, addParameter)]),
        ...Object.entries(filters).map(
          ([name, values]) =>
            `${COUNT_VALUES[name as Dimension]}::text = any(${addParameter(values)}::text[])`,
        ),
      ],
    };
  return {
    table: "recipient_totals",
    values: TOTAL_VALUES,
    conditions: [
      `c.dimension = '${dimension}'`,
      ...Object.values(filters).map((values) => `c.value = any(${addParameter(values)}::text[])`),
    ],
  };
}

/**
 * The rows of a query, or one row with the sums without dimensions. What has not been counted yet is not
 * included.
 */
export async function sumCounts(
  ctx: Ctx,
  query: SumQuery,
  periods: readonly Period[] = [],
): Promise<MetricsRow[]> {
  const rows = await select<MetricsRow & { period?: number | string }>(ctx, query, periods, {
    columns: [],
    order: [],
    limit: rowsMax + 1,
  });
  return rows.map((row) =>
    row.period === undefined ? row : { ...row, period: periods[Number(row.period) - 1]?.name ?? "" },
  );
}

/** The `limit` rows with the most recipients, and the number of the others. */
export async function sumLargest(
  ctx: Ctx,
  query: SumQuery,
  limit: number,
): Promise<{ rows: MetricsRow[]; hidden: number }> {
  const columns = ["count(*) over ()::int as groups"];
  const order = ["sum(c.received) desc"];
  const rows = await select<MetricsRow & { groups: number }>(ctx, query, [], { columns, order, limit });
  return { rows, hidden: (rows[0]?.groups ?? 0) - rows.length };
}

async function select<Row extends MetricsRow>(
  ctx: Ctx,
  query: SumQuery,
  periods: readonly Period[],
  more: { columns: readonly string[]; order: readonly string[]; limit: number },
): Promise<Row[]> {
  const { hot, teamId } = ctx;
  const { dimensions, filter } = query;
  const parameters: (string | readonly string[])[] = filter.emailIds ? [teamId, filter.emailIds] : [teamId];
  const addParameter: AddParameter = (value) => `$${parameters.push(value)}`;
  const startsOf = () => addParameter(periods.map(({ startsAt }) => startsAt.toISOString()));
  const source = sourceOf(query, addParameter);
  const values = dimensions.map(
    (name) =>
      `${name === "period" ? `width_bucket(c.starts_at, ${startsOf()}::timestamptz[])` : source.values[name]} as "${name}"`,
  );
  const groups = dimensions.map((_, index) => String(index + 1));
  const conditions = [
    "c.team_id = $1",
    ...source.conditions,
    rangeCondition(ctx, query, periods, addParameter),
  ];
  const sums = COUNT_COLUMNS.map((name) => `coalesce(sum(c.${name}), 0)::float8 as ${name}`);
  const grouped =
    groups.length > 0 && `group by ${groups.join(", ")} order by ${[...more.order, ...groups].join(", ")}`;
  return hot.unsafe<Row[]>(
    `select ${[...values, ...sums, ...more.columns].join(", ")}
     from ${source.table} c
     where ${conditions.join(" and ")}
     ${grouped || ""} limit ${more.limit}`,
    parameters as string[],
  );
}
