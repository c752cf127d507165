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
    select team_id as "teamId", email_id as "emailId", id from deliveries
    where status = 'sending' and leased_until < now() order by leased_until limit ${limit}`;
  if (expired.length === 0) return [];
  return hot.begin(async (tx) => {
    const parents = await lockEmails(tx, expired);
    const recovered = await tx.unsafe<Recovered[]>(RECOVER_EXPIRED, [
      expired.map(({ teamId }) => teamId),
      expired.map(({ emailId }) => emailId),
      expired.map(({ id }) => id),
      expired.map(newId),
      lapsesMax,
    ]);
    await refreshEmailStatus(tx, parents);
    return recovered;
  });
}

// Filtered by the lease token instead of the status, for the reason given before `markHandedOver` in
// claims.ts. With a plain join, a plan without statistics reads all deliveries of the team.
const RECOVER_EXPIRED = `
with lapsed as materialized (
  select d.team_id, d.email_id, d.id, d.stage, t.unknown_policy as policy, d.lapses + 1 >= $5 as is_exhausted, e.event_id
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) as e(team_id, email_id, id, event_id)
  cross join lateral (
    select * from deliveries d
    where (d.team_id, d.email_id, d.id) = (e.team_id, e.email_id, e.id)
      and d.lease_token is not null and d.leased_until < now()
    for update skip locked
  ) d
  join teams t on t.id = d.team_id
), settled as (
  update deliveries d
  set lapses = d.lapses + 1, stage = 'idle', lease_token = null, leased_until = null, due_at = now(), updated_at = now(),
      status = case when l.stage = 'handed_over' and (l.is_exhausted or l.policy = 'hold') then 'unknown'
                    when l.is_exhausted then 'failed' else 'queued' end,
      wait_rule = case when l.is_exhausted then null when l.stage = 'claimed' then 'lease_expired'
                       when l.policy = 'retry' then 'unknown_retry' end,
      last_reason = case when l.stage = 'handed_over'
        then 'The worker stopped while it was sending the message, so it is unknown whether the server accepted it.'
        else 'The worker stopped before it started to send the message.' end
  from lapsed l where (d.team_id, d.email_id, d.id) = (l.team_id, l.email_id, l.id)
  returning d.id, d.team_id, d.email_id, d.address, d.attempts, d.status, d.wait_rule, d.last_reason, l.stage, l.policy,
            l.event_id
), event as (
  insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
  select event_id, team_id, email_id, id, case when status = 'failed' then 'email.failed' else 'email.unknown' end, address,
    jsonb_build_object('attempt', attempts, 'reason', last_reason, 'policy', policy, 'rule', wait_rule)
  from settled where stage = 'handed_over' or status = 'failed'
)
select id, email_id as "emailId", stage, status from settled`;
