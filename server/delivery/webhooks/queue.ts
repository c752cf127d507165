import type { HotSql } from "#db/client";
import type { webhookDeliveries } from "#db/schema/webhooks";
import { HAS_EVENTS_SENT } from "#server/services/pauses/stopped-teams";
import { WAITING_ENDPOINTS } from "#server/services/pauses/waiting";

/*
 * Lock order: endpoints first, then their event deliveries by id; locked rows are waited for in id order or
 * skipped. Deleting an endpoint locks all its event deliveries.
 */

/** Four times the maximum duration of an attempt, so leases are never renewed. */
export const webhookLeaseMs = 60_000;

/** Initial concurrency limit of an endpoint. */
export const concurrencyStart = 4;

/** `payload` is null until the first attempt stores it. */
export type WebhookClaim = Pick<
  typeof webhookDeliveries.$inferSelect,
  "id" | "teamId" | "webhookId" | "type" | "emailId" | "eventId" | "data" | "payload" | "createdAt"
> & {
  url: string;
  /** Encrypted. The previous secret is set only while it is still valid. */
  secret: string;
  previousSecret: string | null;
  /** Counted at the claim: the first attempt of a round is 1. */
  attempt: number;
  /** Whether the endpoint was in a run of failures when it was claimed. */
  isFailing: boolean;
  leaseToken: string;
};

/**
 * Claims due events in one statement: sets a lease, counts the attempt and commits. Each endpoint has its own
 * concurrency limit over all workers; a failing one has a limit of 1. Claims at the same moment do not count
 * each other's rows, so n workers can exceed the limit up to n times; a lock would serialize all claims.
 * Endpoints with the fewest attempts in progress come first, and rows are chosen round-robin over endpoints,
 * so the backlog of one endpoint never delays another. Rows locked by another worker are skipped. `max`
 * limits the rows of healthy and of failing endpoints; `widths` are the concurrency limits by endpoint id, if
 * other than `concurrencyStart`.
 */
export async function claimWebhooks(
  hot: HotSql,
  leaseToken: string,
  max: { healthy: number; failing: number },
  widths: ReadonlyMap<string, number>,
): Promise<WebhookClaim[]> {
  return hot<WebhookClaim[]>`
    with recursive ${hot.unsafe(WAITING_ENDPOINTS)}, known as materialized (
      select ${JSON.stringify(Object.fromEntries(widths))}::text::jsonb as widths
    ), lane as materialized (
      select w.id, w.failing_since is not null as is_failing, busy.calls, width.calls - busy.calls as room
      from waiting_endpoint e
      join webhooks w on w.id = e.webhook_id
      cross join known
      cross join lateral (
        select case when w.failing_since is not null then 1
                    else coalesce((known.widths ->> w.id::text)::int, ${concurrencyStart}) end as calls
      ) as width
      cross join lateral (
        select count(*)::int as calls from webhook_deliveries d where d.webhook_id = w.id and d.status = 'attempting'
      ) as busy
      where w.status = 'enabled' and (w.paused_until is null or w.paused_until <= now()) and width.calls > busy.calls
        and ${hot.unsafe(HAS_EVENTS_SENT)}
        and exists (select from webhook_deliveries d
                    where d.webhook_id = w.id and d.status = 'pending' and d.due_at <= now())
    ), chosen as materialized (
      (select * from lane where not is_failing order by calls, random() limit ${max.healthy})
      union all
      (select * from lane where is_failing order by random() limit ${max.failing})
    ), due as materialized (
      select head.id, head.due_at, chosen.id as webhook_id, chosen.is_failing
      from chosen cross join lateral (
        select d.id, d.due_at from webhook_deliveries d
        where d.webhook_id = chosen.id and d.status = 'pending' and d.due_at <= now()
        order by d.due_at, d.id limit chosen.room for update skip locked
      ) as head
    ), ranked as (
      select id, is_failing, row_number() over (partition by webhook_id order by due_at, id) as number from due
    ), picked as materialized (
      (select id, is_failing from ranked where not is_failing order by number limit ${max.healthy})
      union all
      (select id, is_failing from ranked where is_failing order by number limit ${max.failing})
    )
    update webhook_deliveries d
    set status = 'attempting', attempts = d.attempts + 1, lease_token = ${leaseToken},
        leased_until = now() + ${webhookLeaseMs} * interval '1 ms'
    from picked, webhooks w
    where d.id = picked.id and w.id = d.webhook_id
    returning d.id, d.team_id as "teamId", d.webhook_id as "webhookId", d.type, d.email_id as "emailId",
      d.event_id as "eventId", d.data, d.payload, d.created_at as "createdAt", w.url, w.secret,
      case when w.previous_until > now() then w.previous_secret end as "previousSecret", d.attempts as attempt,
      picked.is_failing as "isFailing", d.lease_token as "leaseToken"`;
}

export type LeasedWebhook = Pick<WebhookClaim, "id" | "leaseToken">;

/** Stores the bodies of events that have none yet. All later attempts use them. */
export async function storePayloads(
  hot: HotSql,
  fixed: readonly (LeasedWebhook & { payload: string })[],
): Promise<void> {
  if (fixed.length === 0) return;
  await hot`
    with locked as materialized (
      select d.id, f.payload
      from unnest(${fixed.map(({ id }) => id)}::uuid[], ${fixed.map((row) => row.leaseToken)}::uuid[],
                  ${fixed.map(({ payload }) => payload)}::text[]) as f(id, lease_token, payload)
      join webhook_deliveries d on d.id = f.id and d.lease_token = f.lease_token
      where d.payload is null order by d.id for no key update of d
    )
    update webhook_deliveries d set payload = locked.payload from locked where d.id = locked.id`;
}

// Only rows with status 'attempting' have a lease token, so statements on claimed rows do not filter by
// status as well. With such a filter the planner may scan the index of leases for each row.

/** Releases claims without a result. They are due immediately, and the attempt is not counted. */
export async function releaseWebhooks(hot: HotSql, leased: readonly LeasedWebhook[]): Promise<void> {
  if (leased.length === 0) return;
  await hot`
    with mine as materialized (
      select d.id
      from unnest(${leased.map(({ id }) => id)}::uuid[], ${leased.map((row) => row.leaseToken)}::uuid[]) as h(id, lease_token)
      join webhook_deliveries d on d.id = h.id and d.lease_token = h.lease_token
      order by d.id for no key update of d
    )
    update webhook_deliveries d set status = 'pending', lease_token = null, leased_until = null, attempts = d.attempts - 1
    from mine where d.id = mine.id`;
}
