import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { countPendingRecipients } from "./count";
import { type Granularity, listPeriods, type Period } from "./periods";
import { COUNT_OF_STATE, recipientStates } from "./states";

export const METRICS_DIMENSIONS = ["period", "domain", "email", "tag", "key", "provider"] as const;
export type MetricsDimension = (typeof METRICS_DIMENSIONS)[number];

const periodsMax = 10_000;
const rowsMax = 10_000;

const COLUMNS = [
  ...(Object.keys(COUNT_OF_STATE) as (keyof typeof COUNT_OF_STATE)[]),
  "unsubscribed",
] as const;

/** Recipients by the columns of `recipient_counts`. */
export type RecipientCounts = Record<(typeof COLUMNS)[number], number>;

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

export type MetricsQuery = {
  /** Recipients of the emails that were accepted from the hour of `startAt` on, until before `endAt`. */
  startAt: Date;
  endAt: Date;
  timeZone: string;
  granularity: Granularity;
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

export type Metrics = {
  totals: RecipientCounts;
  /** Empty without dimensions. */
  rows: MetricsRow[];
  /** False while older events are still being counted. */
  isComplete: boolean;
  /** Emails from before this time had been deleted when counting began; null if none had. */
  countedSince: Date | null;
};

/**
 * Recipients by their current status, with the email counted in the period in which it was accepted. Events that
 * the worker has not counted yet are counted first. With only the dimension `period`, periods without email have rows, too.
 */
export async function readMetrics(ctx: Ctx, query: MetricsQuery): Promise<Metrics> {
  const { dimensions, filter } = query;
  if (dimensions.includes("email") && !filter.emailIds)
    throw new AppError("invalid", "The dimension `email` requires `email_id`: name the emails.");
  const periods = dimensions.includes("period") ? periodsOf(query) : [];
  const isComplete = filter.emailIds !== undefined || (await countPendingRecipients(ctx));
  const [totals, rows, countedSince] = await Promise.all([
    sumCounts(ctx, { ...query, dimensions: [] }, []),
    dimensions.length === 0 ? [] : sumCounts(ctx, query, periods),
    readCountedSince(ctx),
  ]);
  if (rows.length > rowsMax)
    throw new AppError(
      "invalid",
      `The result has more than ${rowsMax.toLocaleString("en")} rows. Request a shorter range, fewer dimensions or a filter.`,
    );
  const [total] = totals;
  if (!total) throw new Error("a sum returned no row");
  const isFilled = dimensions.length === 1 && periods.length > 0;
  return { totals: total, rows: isFilled ? fillPeriods(rows, periods) : rows, isComplete, countedSince };
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

function fillPeriods(rows: readonly MetricsRow[], periods: readonly Period[]): MetricsRow[] {
  const byName = new Map(rows.map((row) => [row.period, row]));
  const none = Object.fromEntries(COLUMNS.map((name) => [name, 0])) as RecipientCounts;
  return periods.map(({ name }) => byName.get(name) ?? { period: name, ...none });
}

async function readCountedSince({ hot, teamId }: Ctx): Promise<Date | null> {
  const [row] = await hot<{ at: Date | null }[]>`
    select counted_since as at from metrics_progress where team_id = ${teamId}`;
  return row?.at ?? null;
}

/** SQL: the value of each dimension in a row `c`. */
const DIMENSION_VALUES: Record<Exclude<MetricsDimension, "period">, string> = {
  domain: "c.domain",
  email: "c.email_id",
  tag: "c.tag",
  key: "c.api_key_id",
  provider: "c.provider",
};

/** SQL: the same columns as `recipient_counts`, from the events of the emails in $2. The tag "" is for all tags. */
const COUNTS_OF_EMAILS = `(
  with selected as materialized (
    select unnest($2::uuid[]) as id
  ), ${recipientStates({ includes: "true", wasCounted: "false" })}
  select $1::uuid as team_id, s.email_id, t.tag, s.hour, s.sender_domain as domain, s.api_key_id, s.provider,
    ${Object.entries(COUNT_OF_STATE)
      .map(([name, count]) => `${count} as ${name}`)
      .join(", ")},
    (exists (
      select from suppressions x where x.team_id = $1 and x.source_email_id = s.email_id and x.lists_only
        and x.address = (
          select d.address from deliveries d where d.team_id = $1 and d.email_id = s.email_id and d.id = s.delivery_id)
    ))::int as unsubscribed
  from state s cross join lateral (
    select '' as tag union select t.name || ':' || t.value from jsonb_to_recordset(s.tags) as t(name text, value text)
  ) t
  where s.status is not null
)`;

/** The rows of a query, or one row with the sums without dimensions. What has not been counted yet is not included. */
export async function sumCounts(
  { hot, teamId }: Ctx,
  { startAt, endAt, dimensions, filter }: Pick<MetricsQuery, "startAt" | "endAt" | "dimensions" | "filter">,
  periods: readonly Period[] = [],
): Promise<MetricsRow[]> {
  const { emailIds, domains, apiKeyId, tag, provider } = filter;
  const parameters: (string | readonly string[])[] = emailIds ? [teamId, emailIds] : [teamId];
  const place = (value: string | readonly string[]) => `$${parameters.push(value)}`;
  const startsOf = () => place(periods.map(({ startsAt }) => startsAt.toISOString()));
  const values = dimensions.map(
    (name) =>
      `${name === "period" ? `width_bucket(c.hour, ${startsOf()}::timestamptz[])` : DIMENSION_VALUES[name]} as "${name}"`,
  );
  const order = dimensions.map((_, index) => index + 1).join(", ");
  // Each tag of an email has a row of its own.
  const isByTag = tag === undefined && dimensions.includes("tag");
  const conditions = [
    "c.team_id = $1",
    isByTag ? "c.tag <> ''" : `c.tag = ${place(tag ?? "")}`,
    `c.hour >= ${place(startAt.toISOString())}::timestamptz and c.hour < ${place(endAt.toISOString())}::timestamptz`,
    ...(domains ? [`c.domain = any(${place(domains)}::text[])`] : []),
    ...(apiKeyId === undefined ? [] : [`c.api_key_id = ${place(apiKeyId)}::uuid`]),
    ...(provider === undefined ? [] : [`c.provider = ${place(provider)}`]),
  ];
  const rows = await hot.unsafe<(MetricsRow & { period?: number | string })[]>(
    `select ${[...values, ...COLUMNS.map((name) => `coalesce(sum(c.${name}), 0)::float8 as ${name}`)].join(", ")}
     from ${emailIds ? COUNTS_OF_EMAILS : "recipient_counts"} c
     where ${conditions.join(" and ")}
     ${order === "" ? "" : `group by ${order} order by ${order}`} limit ${rowsMax + 1}`,
    parameters as string[],
  );
  return rows.map((row) =>
    row.period === undefined ? row : { ...row, period: periods[Number(row.period) - 1]?.name ?? "" },
  );
}
