import { withinMs } from "#db/gate";
import { TICK_WORKER_ID } from "#db/schema/deliveries";
import type { Deps } from "#server/deps";
import { EVENTS_RESUMED_AT, HAS_EVENTS_SENT, RESUMED_TEAMS, STOPPED_TEAMS } from "../pauses/stopped-teams";
import { IS_WAITING, WAITING, WAITING_ENDPOINTS } from "../pauses/waiting";
import { IS_PROBED } from "../relays/read";

/** Rows that one count reads at most. A longer queue is reported with this number plus one. */
export const FIGURE_MAX = 100_000;

/**
 * Maximum time of the statements together. The server cancels one that runs longer, so it does not outlive
 * its reading.
 */
const readMsMax = 5_000;

/** Figures of the whole installation. */
export type InstallationFigures = {
  queues: {
    queue: "email" | "webhook" | "system_email";
    /**
     * Rows by state. `due`: may be attempted now. `later`: scheduled or deferred. `sending`: claimed by a
     * worker. `paused`: waits for the end of a pause or of a requested deletion of its team, or for a
     * decision after a restore. `no_transport`: waits for a relay. `failing` and `disabled`: its endpoint is.
     */
    counts: Record<string, number>;
    /** Age in seconds of the row that has been due longest; 0 without one. */
    oldestDueSeconds: number;
    /** Claims whose lease expired and that no worker has recovered yet. */
    lapsed: number;
  }[];
  workersAlive: number;
  relays: { ready: number; paused: number };
};

type Row = Omit<InstallationFigures["queues"][number], "queue">;

/**
 * Reads the figures. Each count reads an index up to `FIGURE_MAX` entries. The age of the oldest due row is
 * exact: it costs one index step per team and priority, or per endpoint, independent of the length of the
 * queue. Throws if the database does not respond in time.
 */
export async function getInstallationFigures({ hot }: Pick<Deps, "hot">): Promise<InstallationFigures> {
  // In a transaction, the statements have a connection to themselves: no statement of an email waits behind
  // them.
  const [[email], [webhook], [systemEmail], [parts]] = await withinMs(
    readMsMax,
    hot.begin(async (tx) => {
      await tx.unsafe(`set local statement_timeout = ${readMsMax}`);
      return [
        await tx.unsafe<Row[]>(EMAILS),
        await tx.unsafe<Row[]>(WEBHOOKS),
        await tx.unsafe<Row[]>(SYSTEM_EMAILS),
        await tx.unsafe<{ alive: number; ready: number; paused: number }[]>(PARTS),
      ];
    }),
  );
  if (!email || !webhook || !systemEmail || !parts)
    throw new TypeError("a select without from returned no row");
  return {
    queues: [
      { queue: "email", ...email },
      { queue: "webhook", ...webhook },
      { queue: "system_email", ...systemEmail },
    ],
    workersAlive: parts.alive,
    relays: { ready: parts.ready, paused: parts.paused },
  };
}

/** SQL: the number of rows of a query, counted up to the maximum. */
const countOf = (rows: string) => `(select count(*)::int from (${rows} limit ${FIGURE_MAX + 1}) as counted)`;
const secondsSince = (time: string) =>
  `coalesce(greatest(0, extract(epoch from now() - ${time})), 0)::float8`;

const ofLane = (condition: string) =>
  countOf(`select from lane l cross join lateral (
      select from queue q where ${IS_WAITING} and q.team_id = l.team_id and q.priority = l.priority and ${condition}
      limit ${FIGURE_MAX + 1}) as r`);
const PARKED = countOf(
  "select from deliveries d where d.status = 'queued' and d.wait_rule = 'no_transport' and d.due_at = 'infinity'",
);

// `due_at` of a lane is its first due time. What was due during a pause has been late only since the end of
// the pause (`since`). The counts read ranges of the same index. What is due in a stopped team is paused. A
// pause of a domain postpones its deliveries without end, like those that wait for a transport, which have an
// index of their own.
const EMAILS = `
  with recursive stopped as materialized (${STOPPED_TEAMS}), resumed as materialized (${RESUMED_TEAMS}
  ), ${WAITING}, lane as materialized (
    select w.*, exists (select from stopped s where s.team_id is null or s.team_id = w.team_id) as is_paused,
      greatest(w.due_at, r.at, (select at from resumed where team_id is null)) as since
    from waiting w left join resumed r on r.team_id = w.team_id
  ), counted as (
    select ${ofLane("not l.is_paused and q.due_at <= now()")} as due,
      ${ofLane("q.due_at > now() and q.due_at < 'infinity'")} as later,
      ${ofLane("l.is_paused and q.due_at <= now()")} as due_paused,
      ${ofLane("q.due_at = 'infinity'")} as endless,
      ${PARKED} as no_transport,
      ${countOf("select from queue where lease_token is not null")} as sending
  )
  select jsonb_build_object('due', due, 'later', later, 'paused', due_paused + greatest(0, endless - no_transport),
      'no_transport', no_transport, 'sending', sending) as counts,
    ${secondsSince("(select min(since) from lane where not is_paused and due_at <= now())")} as "oldestDueSeconds",
    ${countOf("select from queue where lease_token is not null and due_at < now()")} as lapsed
  from counted`;

const ofEndpoint = (condition: string) =>
  countOf(`select from endpoint e cross join lateral (
      select from webhook_deliveries d where d.webhook_id = e.id and d.status = 'pending' and ${condition}
      limit ${FIGURE_MAX + 1}) as r`);

// An event of a disabled endpoint, or of a team that will be deleted, stays pending, so it is not due. A
// failing endpoint gets one attempt at a time, so its events wait for each other: they are due, but not late.
const WEBHOOKS = `
  with recursive ${WAITING_ENDPOINTS}, endpoint as materialized (
    select w.id, w.failing_since, w.paused_until, ${EVENTS_RESUMED_AT} as resumed_at,
      case when w.status <> 'enabled' then 'disabled' when ${HAS_EVENTS_SENT} then 'active' else 'paused' end as state
    from waiting_endpoint e join webhooks w on w.id = e.webhook_id
  )
  select jsonb_build_object('due', ${ofEndpoint("e.state = 'active' and e.failing_since is null and d.due_at <= now()")},
      'failing', ${ofEndpoint("e.state = 'active' and e.failing_since is not null and d.due_at <= now()")},
      'later', ${ofEndpoint("e.state = 'active' and d.due_at > now()")},
      'paused', ${ofEndpoint("e.state = 'paused'")},
      'disabled', ${ofEndpoint("e.state = 'disabled'")},
      'sending', ${countOf("select from webhook_deliveries d where d.status = 'attempting'")}) as counts,
    ${secondsSince(`(select min(greatest(first.due_at, e.resumed_at)) from endpoint e cross join lateral (
        select d.due_at from webhook_deliveries d where d.webhook_id = e.id and d.status = 'pending'
        order by d.due_at, d.id limit 1) as first
      where e.state = 'active' and e.failing_since is null and (e.paused_until is null or e.paused_until <= now()) and first.due_at <= now())`)}
      as "oldestDueSeconds",
    ${countOf("select from webhook_deliveries d where d.status = 'attempting' and d.leased_until < now()")} as lapsed`;

// A system email, or a copy of a returned message, has one due time: that of its next attempt, or of the end
// of its lease.
const SYSTEM_EMAILS = `
  with own as not materialized (select due_at from system_mails where status in ('queued', 'sending')
    union all select due_at from return_copies where status in ('queued', 'sending'))
  select jsonb_build_object(
      'due', ${countOf("select from own where due_at <= now()")},
      'later', ${countOf("select from own where due_at > now()")}) as counts,
    ${secondsSince("(select min(due_at) from own)")} as "oldestDueSeconds",
    0 as lapsed`;

const PARTS = `
  select (select count(*)::int from workers
          where beat_at > now() - case when id = '${TICK_WORKER_ID}' then 600 else 30 end * interval '1 second') as alive,
    (select count(*)::int from relays where paused_until is null) as ready,
    (select count(*)::int from relays where paused_until is not null and not is_untested) +
      (select count(*)::int from smtp_url_relays where ${IS_PROBED}) as paused`;
