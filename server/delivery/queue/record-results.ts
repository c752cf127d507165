import type { HotSql } from "#db/client";
import type { DeliveryKey, DeliveryStatus, WaitRule } from "#db/schema/deliveries";
import type { EventData, EventType } from "#db/schema/events";
import { type Columns, writeStatement } from "#db/statement";
import { refreshEmailStatus } from "#server/services/emails/status";
import { addEntries, type ReportedEntry } from "#server/services/suppressions/suppress";
import type { DeliveryLease } from "./claims";

/** Result of an attempt for one recipient. */
export type DeliveryResult = DeliveryLease & {
  status: DeliveryStatus;
  /** From now until the next attempt; null if there is none. */
  retryAfterMs: number | null;
  waitRule: WaitRule | null;
  code: number | null;
  enhanced: string | null;
  text: string | null;
  host: string | null;
  reason: string;
  /** The relay that was used, and the message id that its provider assigned. */
  relayId?: string | null;
  providerId?: string | null;
  events: { id: string; type: EventType; data: EventData }[];
  /** The attempt does not count towards the maximum: it failed on our side, not at the recipient's server. */
  isUncounted?: boolean;
  /** The delivery is the only one of its email. */
  isAlone?: boolean;
  /** Suppresses the address. */
  suppression?: ReportedEntry;
};

/** A recorded delivery. */
export type Written = DeliveryKey & { isAlone: boolean };

/**
 * Records a batch of results atomically: the deliveries, their events, new suppressions with their webhook
 * deliveries, and the summary status of the emails. A result is written only if its lease token is still
 * current. Returns the written deliveries by id. Emails are locked first and in a fixed order: the summary
 * status then includes the results of other workers. The status of an email with a single recipient follows
 * from the result itself. If all results are of such emails, one statement without a transaction is enough.
 */
export async function recordResults(hot: HotSql, results: DeliveryResult[]): Promise<Map<string, Written>> {
  const written = results.every(({ isAlone }) => isAlone)
    ? await writeResults(hot, { results })
    : await hot.begin(async (tx) => {
        const rows = await writeResults(tx, { results });
        const shared = rows.filter(({ isAlone }) => !isAlone);
        const parents = new Map(shared.map(({ teamId, emailId }) => [emailId, { teamId, id: emailId }]));
        await refreshEmailStatus(tx, [...parents.values()]);
        return rows;
      });
  return new Map(written.map((row) => [row.id, row]));
}

const RESULT: Columns<DeliveryResult> = {
  team_id: ["uuid", "teamId"],
  email_id: ["uuid", "emailId"],
  id: ["uuid", "id"],
  lease_token: ["uuid", ({ leaseToken }) => leaseToken],
  status: ["text", ({ status }) => status],
  retry_after_ms: ["int", ({ retryAfterMs }) => retryAfterMs],
  wait_rule: ["text", ({ waitRule }) => waitRule],
  code: ["int", ({ code }) => code],
  enhanced: ["text", ({ enhanced }) => enhanced],
  reply: ["text", ({ text }) => text],
  host: ["text", ({ host }) => host],
  reason: ["text", ({ reason }) => reason],
  events: ["jsonb", ({ events }) => events],
  suppression_id: ["uuid", ({ suppression }) => suppression?.id],
  suppression_address: ["text", ({ suppression }) => suppression?.address],
  origin: ["text", ({ suppression }) => suppression?.origin],
  given_back: ["int", ({ isUncounted }) => (isUncounted ? 1 : 0)],
  relay_id: ["uuid", ({ relayId }) => relayId],
  provider_id: ["text", ({ providerId }) => providerId],
  is_alone: ["bool", ({ isAlone }) => isAlone === true],
};

// The statement adds `nextAttemptAt` to the event, because the database clock sets the time of the next
// attempt. The trigger `email_events_announced` (`db/functions/outbox.sql`) writes the event deliveries.
const writeResults = writeStatement<{ results: DeliveryResult[] }, Written>(
  ({ rows }) => `
with attempt as materialized (
  select r.*
  from ${rows("results", RESULT)} as r
  join emails e on e.team_id = r.team_id and e.id = r.email_id
  order by e.team_id, e.id for no key update of e
), leased as materialized (
  select a.*, q.attempts - a.given_back as attempts, now() + a.retry_after_ms * interval '1 ms' as retry_at
  from attempt a join queue q using (id, lease_token)
  order by q.id for update of q
), ended as (
  delete from queue q using leased a where q.id = a.id returning a.*
), mine as (
  update deliveries d
  set status = a.status, due_at = coalesce(a.retry_at, d.due_at), wait_rule = a.wait_rule, last_code = a.code,
      last_enhanced = a.enhanced, last_text = a.reply, last_host = a.host, last_reason = a.reason, attempts = a.attempts,
      relay_id = a.relay_id, provider_id = a.provider_id, updated_at = now()
  from ended a where (d.team_id, d.email_id, d.id) = (a.team_id, a.email_id, a.id)
  returning d.team_id, d.email_id, d.id, d.address, a.status, a.events, a.retry_at, a.suppression_id,
    a.suppression_address, a.origin, a.is_alone
), email as (
  update emails e set status = case m.status when 'queued' then 'deferred' else m.status end
  from mine m where m.is_alone and e.team_id = m.team_id and e.id = m.email_id
), event as (
  insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
  select e.id, m.team_id, m.email_id, m.id, e.type, m.address,
    case when m.retry_at is null then e.data
         else e.data || jsonb_build_object('nextAttemptAt',
           to_char(m.retry_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end
  from mine m cross join lateral jsonb_to_recordset(m.events) as e(id uuid, type text, data jsonb)
), entry as (
  select team_id, suppression_id as id, suppression_address as address, origin, email_id as source_email_id,
    false as lists_only, null::text[] as lists
  from mine where suppression_id is not null
), ${addEntries("report")}
select id, team_id as "teamId", email_id as "emailId", is_alone as "isAlone" from mine`,
);
