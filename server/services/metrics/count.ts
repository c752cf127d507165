import type { HotSql } from "#db/client";
import { runPrepared } from "#db/statement";
import type { Ctx } from "#server/deps";
import { createJoinedReads, type JoinReads } from "../live/joined-reads";
import { ADD_DIFFERENCE, ADDITION } from "./add-difference";
import { COUNT_COLUMNS, COUNT_OF_STATE, OTHER_TAGS, recipientStates } from "./states";

/**
 * Tags that are counted separately per team and day (UTC). The others of the day count together, as
 * `OTHER_TAGS`.
 */
const tagsPerDayMax = 200;

/** Events that one call counts before it responds, and how many per transaction. */
const countMax = 50_000;
const countAtOnce = 10_000;

/** The joined counts of each connection pool. */
const joinsOfPool = new WeakMap<HotSql, JoinReads>();

/**
 * Counts the events that the worker has not counted yet. False if more remain than one call counts. Each
 * count waits for the team's row of progress, so concurrent calls share one: otherwise the readers of a team
 * that the worker is counting would use all connections of the pool.
 */
export function countPendingRecipients(ctx: Ctx): Promise<boolean> {
  const join = joinsOfPool.get(ctx.hot) ?? createJoinedReads(0);
  joinsOfPool.set(ctx.hot, join);
  return join(ctx.teamId, () => countPending(ctx));
}

async function countPending(ctx: Ctx): Promise<boolean> {
  for (let counted = 0; counted < countMax; ) {
    const now = await countRecipients(ctx.hot, ctx.teamId, { limit: countAtOnce, wait: true });
    if (now === "busy" || now < countAtOnce) return now !== "busy";
    counted += now;
  }
  return false;
}

/**
 * Counts the next events of a team's feed, at most `limit`, and advances the progress in the same
 * transaction: each recipient counts once, in its current status, however often and from however many
 * processes this is called. A recipient whose status changed leaves its former count. Both statuses are
 * derived from the events of the delivery, so nothing is stored for each recipient. Returns the number of
 * counted events; `busy` if another process is counting and `wait` is false.
 */
export async function countRecipients(
  hot: HotSql,
  teamId: string,
  { limit, wait }: { limit: number; wait: boolean },
): Promise<number | "busy"> {
  return hot.begin(async (tx) => {
    await tx`
      insert into metrics_progress (team_id, position, event_id)
      values (${teamId}, 0, '00000000-0000-0000-0000-000000000000') on conflict do nothing`;
    const [from] = await tx<{ position: string; eventId: string }[]>`
      select position, event_id as "eventId" from metrics_progress where team_id = ${teamId}
      for no key update ${wait ? tx`` : tx`skip locked`}`;
    if (!from) return "busy";
    const parameters = [teamId, from.position, from.eventId, limit];
    const [counted] = await runPrepared<{ count: number }>(tx, COUNT_RECIPIENTS, parameters);
    return counted?.count ?? 0;
  });
}

/** Teams with settled events that are not counted yet, up to `limit`. */
export async function findUncounted(hot: HotSql, limit: number): Promise<string[]> {
  const rows = await hot<{ id: string }[]>`
    with horizon as materialized (select event_horizon() as position)
    select t.id from horizon cross join teams t left join metrics_progress p on p.team_id = t.id
    where exists (
      select from email_events e
      where e.team_id = t.id and e.position < horizon.position
        and (e.position, e.id) > (coalesce(p.position, 0), coalesce(p.event_id, '00000000-0000-0000-0000-000000000000'))
    ) limit ${limit}`;
  return rows.map(({ id }) => id);
}

const EMAIL_COLUMNS = "hour, changed_hour, sender_domain, api_key_id, tags, tracks_opens, tracks_clicks";
const STATE_COLUMNS = ["status", "provider", "is_delayed", "opens", "clicks"];
const before = STATE_COLUMNS.map((name) => `${name}_before`).join(", ");
const after = STATE_COLUMNS.join(", ");
const sums = Object.values(COUNT_OF_STATE)
  .map((count) => `sum(s.recipients * ${count})`)
  .join(", ");
/** Results by the hour in which they occurred are needed for the last 24 hours. */
const resultsKept = "interval '49 hours'";

// Emails are read in the order of the indexes: a random one takes a third longer or more. Recipients with the
// same attributes and the same change are grouped before they are summed.
//
// The totals name the tags of a day that are counted separately. They are looked up in one object: a join of
// two lists without statistics would compare all with all.
const COUNT_RECIPIENTS = `
with horizon as materialized (
  select event_horizon() as position
), fresh as materialized (
  select e.id, e.position, e.email_id from email_events e
  where e.team_id = $1 and (e.position, e.id) > ($2::bigint, $3::uuid) and e.position < (select position from horizon)
  order by position, id limit $4
), last as materialized (
  select position, id from fresh order by position desc, id desc limit 1
), selected as materialized (
  select distinct email_id as id from fresh order by 1
), ${recipientStates({
  includes: "(e.position, e.id) <= (select position, id from last)",
  wasCounted: "(e.position, e.id) <= ($2::bigint, $3::uuid)",
})}, changed as materialized (
  select ${EMAIL_COLUMNS}, ${before}, ${after}, (hour at time zone 'UTC')::date as day, count(*)::int as recipients
  from state where (${before}) is distinct from (${after})
  group by ${EMAIL_COLUMNS}, ${before}, ${after}
), side (recipients, day, ${EMAIL_COLUMNS}, ${after}) as materialized (
  select -recipients, day, ${EMAIL_COLUMNS}, ${before} from changed where status_before is not null
  union all
  select recipients, day, ${EMAIL_COLUMNS}, ${after} from changed where status is not null
), tagged as materialized (
  select distinct c.day, t.name || ':' || t.value as tag
  from changed c cross join lateral jsonb_to_recordset(c.tags) as t(name text, value text)
), known as materialized (
  select d.day, k.value as tag from (select distinct day from tagged) d join recipient_totals k
    on k.team_id = $1 and k.dimension = 'tag' and k.unit = 'day' and k.starts_at = d.day::timestamp at time zone 'UTC'
  where k.value <> '${OTHER_TAGS}'
), added as materialized (
  select n.day, n.tag from (
    select day, tag, row_number() over (partition by day order by tag) as nth
    from (select day, tag from tagged except select day, tag from known) n
  ) n left join (select day, count(*) as tags from known group by day) k on k.day = n.day
  where n.nth + coalesce(k.tags, 0) <= ${tagsPerDayMax}
), counted as materialized (
  select coalesce(jsonb_object_agg(day || ' ' || tag, 1), '{}') as tags
  from (select day, tag from known union all select day, tag from added) k
), difference as materialized (
  select $1::uuid as team_id, t.tag, u.unit, date_trunc(u.unit, s.hour, 'UTC') as starts_at, s.sender_domain as domain,
    s.api_key_id, s.provider, ${Object.entries(COUNT_OF_STATE)
      .map(([name, count]) => `sum(s.recipients * ${count}) as ${name}`)
      .join(", ")}, 0 as unsubscribed
  from side s cross join lateral (
    select '' as tag
    union
    select case when (select tags from counted) ? (s.day || ' ' || t.name || ':' || t.value)
      then t.name || ':' || t.value else '${OTHER_TAGS}' end
    from jsonb_to_recordset(s.tags) as t(name text, value text)
  ) t cross join (values ('hour'), ('day')) u(unit)
  group by 2, 3, 4, 5, 6, 7
), ${ADD_DIFFERENCE}, kept_results as (
  insert into recipient_totals as c (team_id, dimension, unit, starts_at, value, ${COUNT_COLUMNS.join(", ")})
  select $1, 'result', 'hour', s.changed_hour, s.sender_domain, ${sums}, 0
  from side s where s.changed_hour >= now() - ${resultsKept}
  group by 4, 5
  on conflict (team_id, dimension, unit, starts_at, value) do update set ${ADDITION}
), old_results as (
  delete from recipient_totals
  where team_id = $1 and dimension = 'result' and unit = 'hour' and starts_at < now() - ${resultsKept}
), moved as (
  update metrics_progress set (position, event_id) = (select position, id from last)
  where team_id = $1 and exists (select from last)
)
select count(*)::int as count from fresh`;
