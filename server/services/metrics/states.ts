import { ERASED_DOMAIN } from "#db/schema/audit";
import { COUNTED_DOMAINS } from "#server/mail/provider-class";

/** The tags of a day that are not counted separately. Other tags have a colon between name and value. */
export const OTHER_TAGS = "other";

/**
 * SQL: the provider by the domain of the delivery `d`, whose last two or three labels are looked up. Regular
 * expressions for all names would take as long as all else that is derived from a delivery.
 */
export const PROVIDER_OF_DOMAIN = `coalesce(${[...new Set(Object.keys(COUNTED_DOMAINS).map(countLabels))]
  .map((labels) => `'${JSON.stringify(COUNTED_DOMAINS)}'::jsonb ->> (${lastLabels(labels)})`)
  .join(", ")}, 'other')`;

function countLabels(name: string): number {
  return name.split(".").length;
}

function lastLabels(count: number): string {
  return Array.from({ length: count }, (_, nth) => `split_part(d.domain, '.', ${nth - count})`).join(
    " || '.' || ",
  );
}

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
  when 'email.auto_replied' then null when 'email.complaint_claimed' then null
  when 'email.opened' then null when 'email.clicked' then null else substr(e.type, 7) end`;

/** SQL: an open or click by a reader. Prefetches and scanners do not count. */
const IS_VISIT = `e.type in ('email.opened', 'email.clicked') and e.data->'visit'->>'by' in ('reader', 'proxy')`;

/** What a recipient is identified and counted by. The first column decides nearly every comparison. */
const RECIPIENT_COLUMNS =
  "delivery_id, email_id, hour, api_key_id, sender_domain, domain, domain_provider, tags, tracks_opens, tracks_clicks";

/**
 * SQL: a CTE `state` with each recipient of the emails in the CTE `selected` (`id`): what the email is
 * counted by, the state of the recipient after the events that satisfy `includes`, and its state (`…_before`)
 * after those of them that also satisfy `wasCounted`. Both are conditions on `email_events e`. The order of
 * the feed is the order in which the status changed, because a change locks its email first. $1 is the team.
 *
 * Each email is read by itself: a plan that joins all of them compares each email with each event. The
 * conditions come after the events of the email are read, because the index of the feed would find all events
 * of the team by them. The events are sorted once for all recipients and aggregates.
 */
export function recipientStates({ includes, wasCounted }: { includes: string; wasCounted: string }): string {
  const state = (suffix: string, condition: string) => `
    (array_agg(e.status) filter (where e.status is not null and ${condition}))[1] as status${suffix},
    coalesce((array_agg(e.event_provider) filter (where e.event_provider is not null
      and (${condition} or e.domain = '${ERASED_DOMAIN}')))[1], e.domain_provider) as provider${suffix},
    coalesce(bool_or(e.type = 'email.delivery_delayed') filter (where ${condition}), false) as is_delayed${suffix},
    count(*) filter (where e.is_visit and e.type = 'email.opened' and ${condition}) as opens${suffix},
    count(*) filter (where e.is_visit and e.type = 'email.clicked' and ${condition}) as clicks${suffix}`;
  return `state as materialized (
  select ${RECIPIENT_COLUMNS}, date_trunc('hour', max(e.created_at), 'UTC') as changed_hour,
    ${state("_before", "e.was_counted")}, ${state("", "true")}
  from (
    select r.*, ${STATUS_AFTER} as status, ${IS_VISIT} as is_visit, e.data->>'provider' as event_provider,
      ${wasCounted} as was_counted, e.type, e.created_at
    from selected s cross join lateral (
      select d.id as delivery_id, d.email_id, m.api_key_id, m.sender_domain, m.tags, m.tracks_opens, m.tracks_clicks,
        date_trunc('hour', m.created_at, 'UTC') as hour, d.domain, ${PROVIDER_OF_DOMAIN} as domain_provider
      from emails m cross join lateral (
        select * from deliveries d where d.team_id = $1 and d.email_id = m.id offset 0
      ) d where m.team_id = $1 and m.id = s.id offset 0
    ) r cross join lateral (
      select * from email_events e where e.team_id = $1 and e.email_id = r.email_id offset 0
    ) e
    where (e.delivery_id = r.delivery_id or e.delivery_id is null) and ${includes}
    order by ${RECIPIENT_COLUMNS}, e.position desc, e.id desc
  ) e
  group by ${RECIPIENT_COLUMNS}
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
