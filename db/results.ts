import type { HotSql } from "./client";
import type { DeliveryStatus, WaitRule } from "./schema/deliveries";
import type { EventData, EventType } from "./schema/events";
import type { SuppressionOrigin } from "./schema/suppressions";
import { refreshEmailStatus } from "./summary";

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
  /** Which relay it was that was asked, and what its provider calls the message. */
  relayId?: string | null;
  providerId?: string | null;
  events: { id: string; type: EventType; data: EventData }[];
  /** The attempt is given back: it failed for a fault of our own, which must not use up what the recipient's server is due. */
  isUncounted?: boolean;
  /** With which the address, as that list writes it, enters the suppression list, unless it is there. */
  suppression?: { id: string; address: string; origin: SuppressionOrigin };
};

type Written = { id: string; teamId: string; emailId: string };

/**
 * Records results, many at once and all or none: the rows, their events, the addresses that are suppressed by them with
 * the webhooks that tell of it, and the summary status of their mails. A result is written only where the lease is still
 * the worker's own; tells which were. Parents are locked first and in one order, so that a summary that is computed
 * afterwards sees every sibling that another worker recorded. `areAlone` promises that no mail among them has another
 * recipient: its status then follows from the result itself, and one statement does it all.
 */
export async function recordResults(
  hot: HotSql,
  results: DeliveryResult[],
  { areAlone = false }: { areAlone?: boolean } = {},
): Promise<Set<string>> {
  const write = (sql: Pick<HotSql, "unsafe">) =>
    sql.unsafe<Written[]>(
      RECORD_RESULTS,
      [
        results.map(({ id }) => id),
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
        results.map(({ suppression }) => suppression?.id ?? null),
        results.map(({ suppression }) => suppression?.address ?? null),
        results.map(({ suppression }) => suppression?.origin ?? null),
        areAlone,
        results.map(({ isUncounted }) => (isUncounted ? 1 : 0)),
        results.map(({ relayId }) => relayId ?? null),
        results.map(({ providerId }) => providerId ?? null),
      ],
      { prepare: hot.options.prepare },
    );
  const written = areAlone
    ? await write(hot)
    : await hot.begin(async (tx) => {
        const rows = await write(tx);
        const parents = new Map(rows.map(({ teamId, emailId }) => [emailId, { teamId, id: emailId }]));
        await refreshEmailStatus(tx, [...parents.values()]);
        return rows;
      });
  return new Set(written.map(({ id }) => id));
}

// The time of the next attempt is the database's, so it is written into the event here and not by the worker's clock.
const RECORD_RESULTS = `
with attempt as materialized (
  select r.*, e.team_id, e.id as email_id
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::int[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::uuid[], $13::text[], $14::text[], $16::int[],
    $17::uuid[], $18::text[])
    as r(id, lease_token, status, retry_after_ms, wait_rule, code, enhanced, reply, host, reason, events, suppression_id,
         suppression_address, origin, given_back, relay_id, provider_id)
  join deliveries d on d.id = r.id
  join emails e on e.team_id = d.team_id and e.id = d.email_id
  order by e.team_id, e.id for no key update of e
), mine as materialized (
  select d.team_id, d.email_id, d.address, a.id, a.status, a.wait_rule, a.code, a.enhanced, a.reply, a.host, a.reason,
    a.events, now() + a.retry_after_ms * interval '1 ms' as retry_at, a.suppression_id, a.suppression_address, a.origin,
    a.given_back, a.relay_id, a.provider_id
  from attempt a join deliveries d on d.id = a.id and d.lease_token = a.lease_token
  order by d.id for no key update of d
), written as (
  update deliveries d
  set status = m.status, stage = 'idle', lease_token = null, leased_until = null, due_at = coalesce(m.retry_at, now()),
      wait_rule = m.wait_rule, last_code = m.code, last_enhanced = m.enhanced, last_text = m.reply, last_host = m.host,
      last_reason = m.reason, attempts = d.attempts - m.given_back, relay_id = m.relay_id,
      provider_id = m.provider_id, updated_at = now()
  from mine m where d.id = m.id
), email as (
  update emails e set status = case m.status when 'queued' then 'deferred' else m.status end
  from mine m where $15 and e.team_id = m.team_id and e.id = m.email_id
), event as (
  insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
  select e.id, m.team_id, m.email_id, m.id, e.type, m.address,
    case when m.retry_at is null then e.data
         else e.data || jsonb_build_object('nextAttemptAt',
           to_char(m.retry_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end
  from mine m cross join lateral jsonb_to_recordset(m.events::jsonb) as e(id uuid, type text, data jsonb)
), suppressed as (
  insert into suppressions (team_id, id, address, origin, source_email_id)
  select team_id, suppression_id, suppression_address, origin, email_id from mine where suppression_id is not null
  order by team_id, suppression_address collate "C"
  on conflict (team_id, address) do update
    set origin = excluded.origin, source_email_id = excluded.source_email_id, lists_only = false
    where suppressions.lists_only
  returning *
), announced as (
  insert into webhook_deliveries (id, team_id, webhook_id, type, payload)
  select uuid_v7(), s.team_id, w.id, 'suppression.added', json_build_object(
    'type', 'suppression.added', 'created_at', s.created, 'data', json_build_object(
      'id', s.id, 'email', s.address, 'origin', s.origin, 'source_id', s.source_email_id,
      'lists_only', false, 'created_at', s.created))
  from (select *, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created from suppressed) s
  join webhooks w on w.team_id = s.team_id and w.status = 'enabled' and 'suppression.added' = any(w.events)
  for key share of w
)
select id, team_id as "teamId", email_id as "emailId" from mine`;
