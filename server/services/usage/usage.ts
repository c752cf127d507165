import { and, asc, between, count, eq, getTableColumns, gte, ne, type SQL, sql } from "drizzle-orm";
import type { HotSql } from "#db/client";
import { BUILT_IN_DOMAIN, domains } from "#db/schema/domains";
import { usageDays } from "#db/schema/events";
import { runPrepared } from "#db/statement";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { USAGE_COUNTS, type Usage, type UsageCounts, type UsageLine } from "#server/shared/wire/usage";
import { nameKeys } from "../keys/read";

/** Maximum number of days per call. */
export const usageDaysMax = 92;
/** Maximum number of lines in a response. */
const linesMax = 10_000;
/** Events that one call counts before it responds, and how many per transaction. */
const countMax = 200_000;
const countAtOnce = 20_000;

/** First and last day, inclusive, as `2026-01-31` in UTC. */
export type UsageQuery = { since: string; until: string; apiKeyId?: string; domain?: string };

/**
 * The team's usage by day, key and domain, in recipients. Each event counts on its own day: an email accepted
 * today may bounce tomorrow. Events that the worker has not counted yet are counted first, so the result is
 * as current as the feed of events.
 */
export async function readUsage(ctx: Ctx, query: UsageQuery): Promise<Usage> {
  const isComplete = await countPendingUsage(ctx);
  const today = ctx.clock().toISOString().slice(0, 10);
  const monthStart = `${today.slice(0, 7)}-01`;
  const [lines, month, day, own] = await Promise.all([
    readLines(ctx, query),
    sumSince(ctx, monthStart),
    sumSince(ctx, today),
    ctx.db
      .select({ count: count() })
      .from(domains)
      .where(and(eq(domains.teamId, ctx.teamId), ne(domains.name, BUILT_IN_DOMAIN))),
  ]);
  return { lines, today: day, month, domains: own[0]?.count ?? 0, isComplete };
}

/** Counts the events that the worker has not counted yet. False if more remain than one call counts. */
async function countPendingUsage(ctx: Ctx): Promise<boolean> {
  for (let counted = 0; counted < countMax; ) {
    const now = await countUsage(ctx.hot, ctx.teamId, { limit: countAtOnce, wait: true });
    if (now === "busy" || now < countAtOnce) return now !== "busy";
    counted += now;
  }
  return false;
}

async function readLines(ctx: Ctx, { since, until, apiKeyId, domain }: UsageQuery): Promise<UsageLine[]> {
  const { teamId: _, firstPosition: __, ...columns } = getTableColumns(usageDays);
  const rows = await ctx.db
    .select(columns)
    .from(usageDays)
    .where(
      and(
        eq(usageDays.teamId, ctx.teamId),
        between(usageDays.day, since, until),
        apiKeyId === undefined ? undefined : eq(usageDays.apiKeyId, apiKeyId),
        domain === undefined ? undefined : eq(usageDays.domain, domain),
      ),
    )
    .orderBy(asc(usageDays.day), asc(usageDays.domain), asc(usageDays.apiKeyId))
    .limit(linesMax + 1);
  if (rows.length > linesMax)
    throw new AppError(
      "invalid",
      `The result has more than ${linesMax.toLocaleString("en")} lines. Request fewer days, or one \`key\` or \`domain\`.`,
    );
  const names = await nameKeys(
    ctx,
    rows.flatMap((row) => row.apiKeyId ?? []),
  );
  return rows.map((row) => ({ ...row, keyName: names.get(row.apiKeyId ?? "") ?? null }));
}

/** The sum of each count over several days. */
const USAGE_SUMS = Object.fromEntries(
  USAGE_COUNTS.map((name) => [name, sql<number>`coalesce(sum(${usageDays[name]}), 0)::float8`]),
) as Record<keyof UsageCounts, SQL<number>>;

async function sumSince(ctx: Ctx, day: string): Promise<UsageCounts> {
  const [row] = await ctx.db
    .select(USAGE_SUMS)
    .from(usageDays)
    .where(and(eq(usageDays.teamId, ctx.teamId), gte(usageDays.day, day)));
  if (!row) throw new Error("a sum returned no row");
  return row;
}

/**
 * Counts the next events of a team's feed into its daily usage, at most `limit`, and advances the progress in
 * the same transaction: each event counts once, however often and from however many processes this is called.
 * Returns the number of counted events; `busy` if another process is counting and `wait` is false.
 *
 * Events are summed later instead of counted by each commit: a counter would make all commits of a team wait
 * for one row.
 */
export async function countUsage(
  hot: HotSql,
  teamId: string,
  { limit, wait }: { limit: number; wait: boolean },
): Promise<number | "busy"> {
  return hot.begin(async (tx) => {
    await tx`
      insert into usage_progress (team_id, position, event_id)
      values (${teamId}, 0, '00000000-0000-0000-0000-000000000000') on conflict do nothing`;
    const [from] = await tx<{ position: string; eventId: string }[]>`
      select position, event_id as "eventId" from usage_progress where team_id = ${teamId}
      for no key update ${wait ? tx`` : tx`skip locked`}`;
    if (!from) return "busy";
    const after = [teamId, from.position, from.eventId, limit];
    const [counted] = await runPrepared<{ count: number }>(tx, COUNT_USAGE, after);
    return counted?.count ?? 0;
  });
}

/** Teams with settled events that this table of progress does not include yet, up to `limit`. */
export async function findUncounted(
  hot: HotSql,
  progress: "usage_progress" | "metrics_progress",
  limit: number,
): Promise<string[]> {
  const rows = await hot<{ id: string }[]>`
    with horizon as materialized (select event_horizon() as position)
    select t.id from horizon cross join teams t left join ${hot(progress)} p on p.team_id = t.id
    where exists (
      select from email_events e
      where e.team_id = t.id and e.position < horizon.position
        and (e.position, e.id) > (coalesce(p.position, 0), coalesce(p.event_id, '00000000-0000-0000-0000-000000000000'))
    ) limit ${limit}`;
  return rows.map(({ id }) => id);
}

const SUMS = USAGE_COUNTS.map((name) => `sum(${name}) as ${name}`).join(", ");

// An email is accepted once: by its first event without a recipient. If retention has deleted the email of an
// old event, its domain and key are unknown, and the event is skipped.
const COUNT_USAGE = `
with horizon as materialized (
  select event_horizon() as position
), fresh as materialized (
  select e.id, e.position, e.email_id, e.delivery_id, e.type, e.created_at
  from email_events e
  where e.team_id = $1 and (e.position, e.id) > ($2::bigint, $3::uuid) and e.position < (select position from horizon)
  order by position, id limit $4
), by_hour as materialized (
  select date_trunc('hour', f.created_at at time zone 'UTC') as hour, m.api_key_id, m.sender_domain,
    min(f.position) as first_position,
    coalesce(sum(a.recipients), 0) as accepted,
    count(*) filter (where f.type = 'email.sent') as sent,
    count(*) filter (where f.type = 'email.delivered') as delivered,
    count(*) filter (where f.type = 'email.bounced') as bounced,
    count(*) filter (where f.type = 'email.complained') as complained,
    count(*) filter (where f.type = 'email.failed') as failed,
    count(*) filter (where f.type = 'email.suppressed') as suppressed,
    count(*) filter (where f.type = 'email.unknown') as unknown
  from fresh f
  -- With plain joins, a plan for few rows reads all emails or events of the team for each row.
  cross join lateral (
    select e.api_key_id, e.sender_domain from emails e where e.team_id = $1 and e.id = f.email_id offset 0
  ) m
  left join lateral (
    select count(*) as recipients from deliveries d
    where d.team_id = $1 and d.email_id = f.email_id
      and f.delivery_id is null and f.type in ('email.queued', 'email.scheduled')
      and not exists (
        select from (
          select p.position, p.id from email_events p
          where p.team_id = $1 and p.email_id = f.email_id and p.delivery_id is null
            and p.type in ('email.queued', 'email.scheduled') offset 0
        ) p where (p.position, p.id) < (f.position, f.id))
  ) a on true
  group by 1, 2, 3
), counted as (
  select hour::date as day, api_key_id, sender_domain, min(first_position) as first_position,
    ${SUMS}
  from by_hour group by 1, 2, 3
), recent as (
  insert into usage_hours as h (team_id, hour, domain, sent, delivered, bounced, complained)
  select $1, hour at time zone 'UTC', sender_domain, sum(sent), sum(delivered), sum(bounced), sum(complained)
  from by_hour where hour > (now() at time zone 'UTC') - interval '2 days'
  group by 2, 3 having sum(sent + delivered + bounced + complained) > 0
  on conflict (team_id, hour, domain) do update
  set sent = h.sent + excluded.sent, delivered = h.delivered + excluded.delivered, bounced = h.bounced + excluded.bounced,
    complained = h.complained + excluded.complained
), kept as (
  insert into usage_days as u (team_id, day, api_key_id, domain, accepted, sent, delivered, bounced, complained, failed,
    suppressed, unknown, first_position)
  select $1, day, api_key_id, sender_domain, accepted, sent, delivered, bounced, complained, failed, suppressed, unknown,
    first_position
  from counted
  on conflict (team_id, day, api_key_id, domain) do update
  set accepted = u.accepted + excluded.accepted, sent = u.sent + excluded.sent, delivered = u.delivered + excluded.delivered,
    bounced = u.bounced + excluded.bounced, complained = u.complained + excluded.complained,
    failed = u.failed + excluded.failed, suppressed = u.suppressed + excluded.suppressed,
    unknown = u.unknown + excluded.unknown, first_position = least(u.first_position, excluded.first_position)
), moved as (
  update usage_progress set (position, event_id) = (select position, id from fresh order by position desc, id desc limit 1)
  where team_id = $1 and exists (select from fresh)
)
select count(*)::int as count from fresh`;
