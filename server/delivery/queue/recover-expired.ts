import type { HotSql } from "#db/client";
import type { DeliveryKey } from "#db/schema/deliveries";
import { lockEmails, refreshEmailStatus } from "#server/services/emails/status";

/**
 * Maximum expired leases of one delivery. After that it is not attempted again, because it may crash its
 * workers.
 */
export const lapsesMax = 10;

export type Recovered = {
  id: string;
  emailId: string;
  stage: "claimed" | "handed_over";
  status: "queued" | "unknown" | "failed";
};

/**
 * Recovers up to `limit` claims whose lease expired. A delivery that was only claimed returns to the queue.
 * If it was handed over, its outcome is unknown: `email.unknown` is recorded, and the team's policy decides
 * whether it is sent again or held. Delivery and event commit together.
 */
export async function recoverExpired(hot: HotSql, newId: () => string, limit: number): Promise<Recovered[]> {
  const expired = await hot<DeliveryKey[]>`
    select team_id as "teamId", email_id as "emailId", id from queue
    where lease_token is not null and due_at < now() order by due_at limit ${limit}`;
  if (expired.length === 0) return [];
  return hot.begin(async (tx) => {
    const parents = await lockEmails(tx, expired);
    const recovered = await tx.unsafe<Recovered[]>(RECOVER_EXPIRED, [
      expired.map(({ id }) => id),
      expired.map(newId),
      lapsesMax,
    ]);
    await refreshEmailStatus(tx, parents);
    return recovered;
  });
}

// The lease of a deleted delivery ends with its row. The fields of the lease in `deliveries` are those of
// release 0.2.0, whose leases are in the queue, too.
const RECOVER_EXPIRED = `
with lapsed as materialized (
  select q.id, q.stage, q.attempts, q.lapses + 1 as lapses, t.unknown_policy as policy, e.event_id
  from unnest($1::uuid[], $2::uuid[]) as e(id, event_id)
  cross join lateral (
    select * from queue q where q.id = e.id and q.lease_token is not null and q.due_at < now() for update skip locked
  ) q
  left join teams t on t.id = q.team_id
), ended as (
  delete from queue q using lapsed l where q.id = l.id
  returning q.team_id, q.email_id, l.*, l.lapses >= $3 as is_exhausted
), settled as (
  update deliveries d
  set lapses = l.lapses, attempts = l.attempts, stage = 'idle', lease_token = null, leased_until = null, due_at = now(),
      updated_at = now(),
      status = case when l.stage = 'handed_over' and (l.is_exhausted or l.policy = 'hold') then 'unknown'
                    when l.is_exhausted then 'failed' else 'queued' end,
      wait_rule = case when l.is_exhausted then null when l.stage = 'claimed' then 'lease_expired'
                       when l.policy = 'retry' then 'unknown_retry' end,
      last_reason = case when l.stage = 'handed_over'
        then 'The worker stopped while it was sending the message, so it is unknown whether the server accepted it.'
        else 'The worker stopped before it started to send the message.' end
  from ended l
  where (d.team_id, d.email_id, d.id) = (l.team_id, l.email_id, l.id) and d.status in ('queued', 'scheduled', 'sending')
  returning d.id, d.team_id, d.email_id, d.address, d.attempts, d.status, d.wait_rule, d.last_reason, l.stage, l.policy,
            l.event_id
), event as (
  insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
  select event_id, team_id, email_id, id, case when status = 'failed' then 'email.failed' else 'email.unknown' end, address,
    jsonb_build_object('attempt', attempts, 'reason', last_reason, 'policy', policy, 'rule', wait_rule)
  from settled where stage = 'handed_over' or status = 'failed'
)
select id, email_id as "emailId", stage, status from settled`;
