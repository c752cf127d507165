import type { HotSql } from "#db/client";
import { runPrepared } from "#db/statement";
import type { Ctx } from "#server/deps";
import { createJoinedReads, type JoinReads } from "../live/joined-reads";
import { ADD_DIFFERENCE } from "./add-difference";
import { COUNT_OF_STATE, OTHER_TAGS, recipientStates } from "./states";

/**
 * Tags that are counted separately per team and day (UTC). The others of the day count together, as
 * `OTHER_TAGS`.
 */
const tagsPerDayMax = 200;

/** Events that one call counts before it responds, and how many per transaction. */
const countMax = 50_000;
const countAtOnce = 5_000;

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
    await tx.unsafe(BEGIN_PROGRESS, [teamId]);
    const [from] = await tx<{ position: string; eventId: string }[]>`
      select position, event_id as "eventId" from metrics_progress where team_id = ${teamId}
      for no key update ${wait ? tx`` : tx`skip locked`}`;
    if (!from) return "busy";
    const parameters = [teamId, from.position, from.eventId, limit];
    const [counted] = await runPrepared<{ count: number }>(tx, COUNT_RECIPIENTS, parameters);
    return counted?.count ?? 0;
  });
}

// Usage that is older than the oldest email belongs to emails that were deleted before they were counted
// here.
const BEGIN_PROGRESS = `
insert into metrics_progress (team_id, position, event_id, counted_since)
select $1, 0, '00000000-0000-0000-0000-000000000000', (
  select case when min(u.day) < (first.at at time zone 'UTC')::date then first.at end
  from usage_days u where u.team_id = $1)
from (
  select coalesce((select created_at from emails where team_id = $1 order by id limit 1), now()) as at
) as first
where not exists (select from metrics_progress where team_id = $1)
on conflict do nothing`;

const EMAIL_COLUMNS = "email_id, hour, day, sender_domain, api_key_id, tags, tracks_opens, tracks_clicks";
const STATE_COLUMNS = ["status", "provider", "is_delayed", "opens", "clicks"];
const before = STATE_COLUMNS.map((name) => `${name}_before`).join(", ");
const after = STATE_COLUMNS.join(", ");

// The tags of a day are looked up in one object: a join of two lists without statistics would compare all
// with all.
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
  select distinct email_id as id from fresh
), ${recipientStates({
  includes: "(e.position, e.id) <= (select position, id from last)",
  wasCounted: "(e.position, e.id) <= ($2::bigint, $3::uuid)",
})}, changed as materialized (
  select * from state where (${before}) is distinct from (${after})
), side (sign, ${EMAIL_COLUMNS}, ${after}) as materialized (
  select -1, ${EMAIL_COLUMNS}, ${before} from changed where status_before is not null
  union all
  select 1, ${EMAIL_COLUMNS}, ${after} from changed where status is not null
), tagged as materialized (
  select distinct c.day, t.name || ':' || t.value as tag
  from changed c cross join lateral jsonb_to_recordset(c.tags) as t(name text, value text)
), known as materialized (
  select k.day, k.tag from counted_tags k where k.team_id = $1 and k.day in (select day from tagged)
), added as materialized (
  select n.day, n.tag from (
    select day, tag, row_number() over (partition by day order by tag) as nth
    from (select day, tag from tagged except select day, tag from known) n
  ) n left join (select day, count(*) as tags from known group by day) k on k.day = n.day
  where n.nth + coalesce(k.tags, 0) <= ${tagsPerDayMax}
), kept_tags as (
  insert into counted_tags (team_id, day, tag) select $1, day, tag from added
), counted as materialized (
  select coalesce(jsonb_object_agg(day || ' ' || tag, 1), '{}') as tags
  from (select day, tag from known union all select day, tag from added) k
), difference as materialized (
  select $1::uuid as team_id, t.tag, u.unit, date_trunc(u.unit, s.hour, 'UTC') as starts_at, s.sender_domain as domain,
    s.api_key_id, s.provider, ${Object.entries(COUNT_OF_STATE)
      .map(([name, count]) => `sum(s.sign * ${count}) as ${name}`)
      .join(", ")}, 0 as unsubscribed
  from side s cross join lateral (
    select '' as tag
    union
    select case when (select tags from counted) ? (s.day || ' ' || t.name || ':' || t.value)
      then t.name || ':' || t.value else '${OTHER_TAGS}' end
    from jsonb_to_recordset(s.tags) as t(name text, value text)
  ) t cross join (values ('hour'), ('day')) u(unit)
  group by 2, 3, 4, 5, 6, 7
), ${ADD_DIFFERENCE}, moved as (
  update metrics_progress set (position, event_id) = (select position, id from last)
  where team_id = $1 and exists (select from last)
)
select count(*)::int as count from fresh`;
