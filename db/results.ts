import type { HotSql } from "./client";
import type { DeliveryStatus, WaitRule } from "./schema/deliveries";
import type { EventData, EventType } from "./schema/events";
import { lockEmailsOf, refreshEmailStatus } from "./summary";

/** What an attempt came to, for one recipient. */
export type DeliveryResult = {
  id: string;
  leaseToken: string;
  status: DeliveryStatus;
  /** From now until the next attempt; null where there is none. */
  retryAfterMs: number | null;
  waitRule: WaitRule | null;
  code: number | null;
  enhanced: string | null;
  text: string | null;
  host: string | null;
  reason: string;
  events: { id: string; type: EventType; data: EventData }[];
};

/**
 * Records results, many in one transaction: the rows, their events and the summary status of their mails. A result is
 * written only where the lease is still the worker's own; tells which were. Parents are locked first and in one order,
 * so that the summary, computed afterwards, sees every sibling that another worker recorded.
 */
export async function recordResults(hot: HotSql, results: DeliveryResult[]): Promise<Set<string>> {
  const ids = results.map(({ id }) => id);
  const events = results.flatMap((result) =>
    result.events.map((event) => ({ deliveryId: result.id, ...event })),
  );
  return hot.begin(async (tx) => {
    const parents = await lockEmailsOf(tx, ids);
    const written = await tx.unsafe<{ id: string }[]>(
      RECORD_RESULTS,
      [
        ids,
        results.map(({ leaseToken }) => leaseToken),
        results.map(({ status }) => status),
        results.map(({ retryAfterMs }) => retryAfterMs),
        results.map(({ waitRule }) => waitRule),
        results.map(({ code }) => code),
        results.map(({ enhanced }) => enhanced),
        results.map(({ text }) => text),
        results.map(({ host }) => host),
        results.map(({ reason }) => reason),
        events.map(({ deliveryId }) => deliveryId),
        events.map(({ id }) => id),
        events.map(({ type }) => type),
        events.map(({ data }) => JSON.stringify(data)),
      ],
      { prepare: hot.options.prepare },
    );
    await refreshEmailStatus(tx, parents);
    return new Set(written.map(({ id }) => id));
  });
}

// The time of the next attempt is the database's, so it is written into the event here and not by the worker's clock.
const RECORD_RESULTS = `
with result as (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::int[], $7::text[], $8::text[],
    $9::text[], $10::text[])
    as r(id, lease_token, status, retry_after_ms, wait_rule, code, enhanced, reply, host, reason)
), mine as materialized (
  select d.id from result r join deliveries d on d.id = r.id and d.lease_token = r.lease_token
  where d.status = 'sending' order by d.id for no key update of d
), written as (
  update deliveries d
  set status = r.status, stage = 'idle', lease_token = null, leased_until = null,
      due_at = now() + coalesce(r.retry_after_ms, 0) * interval '1 ms', wait_rule = r.wait_rule,
      last_code = r.code, last_enhanced = r.enhanced, last_text = r.reply, last_host = r.host, last_reason = r.reason,
      updated_at = now()
  from mine join result r on r.id = mine.id
  where d.id = mine.id
  returning d.id, d.team_id, d.email_id, d.address, d.due_at, r.retry_after_ms
), event as (
  insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
  select e.id, w.team_id, w.email_id, w.id, e.type, w.address,
    case when w.retry_after_ms is null then e.data::jsonb
         else e.data::jsonb || jsonb_build_object('nextAttemptAt', w.due_at at time zone 'UTC') end
  from unnest($11::uuid[], $12::uuid[], $13::text[], $14::text[]) as e(delivery_id, id, type, data)
  join written w on w.id = e.delivery_id
)
select id from written`;
