import type { HotSql } from "./client";
import type { DeliveryStatus, WaitRule } from "./schema/deliveries";
import type { EventData, EventType } from "./schema/events";
import { lockEmailsOf, refreshEmailStatus } from "./summary";
import { beginTransaction } from "./transaction";

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
  return beginTransaction(hot, async (tx) => {
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
        results.map(({ events }) => JSON.stringify(events)),
      ],
      { prepare: hot.options.prepare },
    );
    await refreshEmailStatus(tx, parents);
    return new Set(written.map(({ id }) => id));
  });
}

// The time of the next attempt is the database's, so it is written into the event here and not by the worker's clock.
const RECORD_RESULTS = `
with mine as materialized (
  select d.id, d.team_id, d.email_id, d.address, r.status, r.wait_rule, r.code, r.enhanced, r.reply, r.host, r.reason,
    r.events, now() + r.retry_after_ms * interval '1 ms' as retry_at
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::int[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[])
    as r(id, lease_token, status, retry_after_ms, wait_rule, code, enhanced, reply, host, reason, events)
  join deliveries d on d.id = r.id and d.lease_token = r.lease_token
  where d.status = 'sending' order by d.id for no key update of d
), written as (
  update deliveries d
  set status = m.status, stage = 'idle', lease_token = null, leased_until = null, due_at = coalesce(m.retry_at, now()),
      wait_rule = m.wait_rule, last_code = m.code, last_enhanced = m.enhanced, last_text = m.reply, last_host = m.host,
      last_reason = m.reason, updated_at = now()
  from mine m where d.id = m.id
), event as (
  insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
  select e.id, m.team_id, m.email_id, m.id, e.type, m.address,
    case when m.retry_at is null then e.data
         else e.data || jsonb_build_object('nextAttemptAt', m.retry_at at time zone 'UTC') end
  from mine m cross join lateral jsonb_to_recordset(m.events::jsonb) as e(id uuid, type text, data jsonb)
)
select id from mine`;
