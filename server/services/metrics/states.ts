import { ERASED_DOMAIN } from "#db/schema/audit";
import { COUNTED_DOMAINS } from "#server/mail/provider-class";

/** The tags of a day that are not counted separately. Other tags have a colon between name and value. */
export const OTHER_TAGS = "other";

/** SQL: the provider by the domain of the delivery `d`. */
export const PROVIDER_OF_DOMAIN = `case ${COUNTED_DOMAINS.map(
  ({ provider, pattern }) => `when d.domain ~ '${pattern}' then '${provider}'`,
).join(" ")} else 'other' end`;

/**
 * SQL: the status of a delivery after an event `e`; null if the event does not change it. A deferral and an
 * unknown outcome with a rule are retried. A report of a delay, which has no attempt, changes nothing. The
 * type of a bounce is that of webhooks (`events/payload.ts`).
 */
const STATUS_AFTER = `case e.type
  when 'email.queued' then 'in_progress' when 'email.scheduled' then 'in_progress'
  when 'email.delivery_delayed' then case when e.data->>'attempt' is not null then 'in_progress' end
  when 'email.unknown' then case when e.data->>'rule' is null then 'unknown' else 'in_progress' end
  when 'email.bounced' then 'bounced_' ||
    case left(coalesce(e.data->'reply'->>'enhanced', e.data->'reply'->>'code'), 1)
      when '5' then 'permanent' when '4' then 'transient' else 'undetermined' end
  when 'email.opened' then null when 'email.clicked' then null else substr(e.type, 7) end`;

/** SQL: an open or click by a reader. Prefetches and scanners do not count. */
const IS_VISIT = `e.type in ('email.opened', 'email.clicked') and e.data->'visit'->>'by' in ('reader', 'proxy')`;

/**
 * SQL: a CTE `state` with each recipient of the emails in the CTE `selected` (`id`): what the email is
 * counted by, the state of the recipient after the events that satisfy `includes`, and its state (`…_before`)
 * after those of them that also satisfy `wasCounted`. Both are conditions on `email_events e`. The order of
 * the feed is the order in which the status changed, because a change locks its email first. $1 is the team.
 *
 * Each email is read by itself: a plan that joins all of them compares each email with each event. The
 * conditions come after the events of the email are read, because the index of the feed would find all events
 * of the team by them.
 */
export function recipientStates({ includes, wasCounted }: { includes: string; wasCounted: string }): string {
  const state = (suffix: string, condition: string) => `
    (array_agg(e.status order by e.position desc, e.id desc) filter (where e.status is not null and ${condition}))[1]
      as status${suffix},
    coalesce((array_agg(e.provider order by e.position desc, e.id desc) filter (where e.provider is not null
      and (${condition} or d.domain = '${ERASED_DOMAIN}')))[1], ${PROVIDER_OF_DOMAIN}) as provider${suffix},
    coalesce(bool_or(e.type = 'email.delivery_delayed') filter (where ${condition}), false) as is_delayed${suffix},
    count(*) filter (where e.is_visit and e.type = 'email.opened' and ${condition}) as opens${suffix},
    count(*) filter (where e.is_visit and e.type = 'email.clicked' and ${condition}) as clicks${suffix}`;
  return `state as materialized (
  select m.*, r.*
  from selected s cross join lateral (
    select e.id as email_id, e.api_key_id, e.sender_domain, e.tags, e.tracks_opens, e.tracks_clicks,
      date_trunc('hour', e.created_at, 'UTC') as hour, (e.created_at at time zone 'UTC')::date as day
    from emails e where e.team_id = $1 and e.id = s.id offset 0
  ) m cross join lateral (
    select d.id as delivery_id, max(e.created_at) as changed_at, ${state("_before", "e.was_counted")}, ${state("", "true")}
    from deliveries d join (
      select e.delivery_id, e.position, e.id, e.type, e.created_at, ${STATUS_AFTER} as status, ${IS_VISIT} as is_visit,
        e.data->>'provider' as provider, ${wasCounted} as was_counted
      from (
        select * from email_events e where e.team_id = $1 and e.email_id = m.email_id offset 0
      ) e where ${includes} offset 0
    ) e on e.delivery_id = d.id or e.delivery_id is null
    where d.team_id = $1 and d.email_id = m.email_id
    group by d.id, d.domain offset 0
  ) r
)`;
}

const isStatus = (...statuses: string[]) => `(s.status in ('${statuses.join("', '")}'))::int`;
const REACHED = ["sent", "delivered", "complained"];

/** SQL: what a recipient adds to each column of `recipient_counts`, by its state `s`. */
export const COUNT_OF_STATE = {
  received: "1",
  sent: isStatus("sent"),
  delivered: isStatus("delivered"),
  bounced_permanent: isStatus("bounced_permanent"),
  bounced_transient: isStatus("bounced_transient"),
  bounced_undetermined: isStatus("bounced_undetermined"),
  complained: isStatus("complained"),
  failed: isStatus("failed"),
  unknown: isStatus("unknown"),
  suppressed: isStatus("suppressed"),
  canceled: isStatus("canceled"),
  delayed: "s.is_delayed::int",
  opens: "s.opens",
  clicks: "s.clicks",
  openers: "(s.opens > 0)::int",
  clickers: "(s.clicks > 0)::int",
  opens_tracked: `s.tracks_opens::int * ${isStatus(...REACHED)}`,
  clicks_tracked: `s.tracks_clicks::int * ${isStatus(...REACHED)}`,
} as const;

/** The columns of counts in `recipient_counts` and `recipient_totals`. */
export const COUNT_COLUMNS = [
  ...(Object.keys(COUNT_OF_STATE) as (keyof typeof COUNT_OF_STATE)[]),
  "unsubscribed",
] as const;
