import type { HotSql } from "./client";

/** A call may take a quarter of this, so a lease is never renewed; a worker that dies is found out after it. */
export const webhookLeaseMs = 60_000;

/** Calls of one endpoint at once before it has shown what it can take. */
export const laneWidthStart = 4;

export type WebhookClaim = {
  id: string;
  teamId: string;
  webhookId: string;
  type: string;
  emailId: string | null;
  eventId: string | null;
  /** Null until the first attempt fixes it. */
  payload: string | null;
  url: string;
  /** Sealed; the previous one only while it is live. */
  secret: string;
  previousSecret: string | null;
  /** Counted at the claim: the first attempt of a round is 1. */
  attempt: number;
  /** Whether the endpoint was in a run of failures when it was claimed. */
  isFailing: boolean;
  leaseToken: string;
};

export type LaneRoom = {
  /** Rows at most of endpoints whose last call went well, and of those whose last calls all failed. */
  healthy: number;
  failing: number;
  /** Calls at once by endpoint, where it is not `laneWidthStart`. */
  widths: ReadonlyMap<string, number>;
  leaseToken: string;
};

/**
 * Takes due events by one statement: sets a lease, counts the attempt and commits. Every endpoint is a lane of its own: it
 * has at most its width of calls under way over all workers, a failing one a single call, and those with the fewest calls
 * go first, in turn. So whatever one endpoint has waiting, it holds up nobody else. Rows that another worker is just
 * taking are passed over.
 */
export async function claimWebhooks(
  hot: HotSql,
  { healthy, failing, widths, leaseToken }: LaneRoom,
): Promise<WebhookClaim[]> {
  return hot<WebhookClaim[]>`
    with recursive waiting as (
      (select webhook_id from webhook_deliveries where status = 'pending' order by webhook_id limit 1)
      union all
      select (select d.webhook_id from webhook_deliveries d
              where d.status = 'pending' and d.webhook_id > waiting.webhook_id order by d.webhook_id limit 1)
      from waiting where waiting.webhook_id is not null
    ), known as materialized (
      select ${JSON.stringify(Object.fromEntries(widths))}::text::jsonb as widths
    ), lane as materialized (
      select w.id, w.failing_since is not null as is_failing, busy.calls, width.calls - busy.calls as room
      from waiting
      join webhooks w on w.id = waiting.webhook_id
      cross join known
      cross join lateral (
        select case when w.failing_since is not null then 1
                    else coalesce((known.widths ->> w.id::text)::int, ${laneWidthStart}) end as calls
      ) as width
      cross join lateral (
        select count(*)::int as calls from webhook_deliveries d where d.webhook_id = w.id and d.status = 'attempting'
      ) as busy
      where w.status = 'enabled' and (w.paused_until is null or w.paused_until <= now()) and width.calls > busy.calls
        and exists (select from webhook_deliveries d
                    where d.webhook_id = w.id and d.status = 'pending' and d.due_at <= now())
    ), chosen as materialized (
      (select * from lane where not is_failing order by calls, random() limit ${healthy})
      union all
      (select * from lane where is_failing order by random() limit ${failing})
    ), due as materialized (
      select head.id, head.due_at, chosen.id as webhook_id, chosen.is_failing
      from chosen cross join lateral (
        select d.id, d.due_at from webhook_deliveries d
        where d.webhook_id = chosen.id and d.status = 'pending' and d.due_at <= now()
        order by d.due_at, d.id limit chosen.room for update skip locked
      ) as head
    ), turn as (
      select id, is_failing, row_number() over (partition by webhook_id order by due_at, id) as number from due
    ), picked as materialized (
      (select id, is_failing from turn where not is_failing order by number limit ${healthy})
      union all
      (select id, is_failing from turn where is_failing order by number limit ${failing})
    )
    update webhook_deliveries d
    set status = 'attempting', attempts = d.attempts + 1, lease_token = ${leaseToken},
        leased_until = now() + ${webhookLeaseMs} * interval '1 ms'
    from picked, webhooks w
    where d.id = picked.id and w.id = d.webhook_id
    returning d.id, d.team_id as "teamId", d.webhook_id as "webhookId", d.type, d.email_id as "emailId",
      d.event_id as "eventId", d.payload, w.url, w.secret,
      case when w.previous_until > now() then w.previous_secret end as "previousSecret", d.attempts as attempt,
      picked.is_failing as "isFailing", d.lease_token as "leaseToken"`;
}

export type HeldWebhook = Pick<WebhookClaim, "id" | "leaseToken">;

/** Fixes the bodies of events that have none yet, for all attempts to come. */
export async function fixPayloads(
  hot: HotSql,
  fixed: readonly (HeldWebhook & { payload: string })[],
): Promise<void> {
  if (fixed.length === 0) return;
  await hot`
    update webhook_deliveries d set payload = f.payload
    from unnest(${fixed.map(({ id }) => id)}::uuid[], ${fixed.map((row) => row.leaseToken)}::uuid[],
                ${fixed.map(({ payload }) => payload)}::text[]) as f(id, lease_token, payload)
    where d.id = f.id and d.lease_token = f.lease_token and d.payload is null`;
}

/** Gives back claims whose call never began, due at once and without counting the attempt. */
export async function releaseWebhooks(hot: HotSql, held: readonly HeldWebhook[]): Promise<void> {
  if (held.length === 0) return;
  await hot`
    update webhook_deliveries d set status = 'pending', lease_token = null, leased_until = null, attempts = d.attempts - 1
    from unnest(${held.map(({ id }) => id)}::uuid[], ${held.map((row) => row.leaseToken)}::uuid[]) as h(id, lease_token)
    where d.id = h.id and d.lease_token = h.lease_token and d.status = 'attempting'`;
}

/**
 * Settles claims whose lease ran out: whether the call was made nobody knows, so it is made again, up to `attemptsMax`.
 * Tells how many.
 */
export async function recoverWebhooks(hot: HotSql, attemptsMax: number, limit: number): Promise<number> {
  const { count } = await hot`
    update webhook_deliveries
    set status = case when attempts >= ${attemptsMax} then 'failed' else 'pending' end, due_at = now(),
        lease_token = null, leased_until = null
    where id in (select id from webhook_deliveries where status = 'attempting' and leased_until < now()
                 order by leased_until limit ${limit} for update skip locked)`;
  return count;
}

/** Ends what waits for endpoints that are disabled: nothing must come unasked when one is enabled again. */
export async function endWaitingOfDisabled(hot: HotSql, limit: number): Promise<number> {
  const { count } = await hot`
    update webhook_deliveries set status = 'failed'
    where id in (select d.id from webhooks w join webhook_deliveries d on d.webhook_id = w.id
                 where w.status = 'disabled' and d.status = 'pending' limit ${limit} for update of d skip locked)`;
  return count;
}

/** Forgets what was settled more than `days` ago, with its attempts, oldest first. Ids begin with their time. */
export async function forgetWebhooks(hot: HotSql, days: number, limit: number): Promise<number> {
  const { count } = await hot`
    with bound as (
      select rpad(lpad(to_hex(floor(extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0'), 32, '0')
             ::uuid as id
    )
    delete from webhook_deliveries
    where id in (select d.id from webhook_deliveries d
                 where d.id < (select id from bound) and d.status in ('success', 'failed')
                 order by d.id limit ${limit} for update skip locked)`;
  return count;
}
