import type { ReservedSql } from "postgres";
import { EMAIL_STATUSES } from "#db/schema/emails";

const SYSTEM_EMAIL_REPLY =
  "Not sent, because the installation was restored from a backup. It may have been sent before.";

const UNKNOWN_REASON =
  "The backup was made while the message was being sent, so it is unknown whether the server accepted it.";

/**
 * Days that a team whose deletion was requested before the backup stays at least, so that it can be canceled
 * again.
 */
const deletionDaysMin = 7;

/**
 * The deletion of a team that was requested before the backup. `deletesAt` is null if it had started: then it
 * continues.
 */
export type HeldDeletion = { team: string; deletesAt: Date | null };

/**
 * Numbers of deliveries: held ones, and those whose dialogue was in progress. Deletions of teams that are not
 * complete.
 */
export type Held = { held: number; unknown: number; deletions: HeldDeletion[] };

/**
 * Makes a loaded backup safe to start, in the transaction that loads it, when its triggers are active again.
 * Whatever was about to be sent at the time of the backup may have been sent since. So deliveries are held
 * until a member or the operator decides, the outcome of a dialogue in progress is unknown, and system emails
 * and copies of returned messages are not sent. Sessions, emailed links and invitations that ended after the
 * backup must not be valid again, so all of them end. The deletion of a team may have been canceled after the
 * backup, so it waits again unless it had started.
 */
export async function holdRestored(tx: Pick<ReservedSql, "unsafe">): Promise<Held> {
  // The events must have positions above those of the backup.
  await tx.unsafe("select continue_event_feed()");
  await tx.unsafe(TAKE_LEASES);
  await tx.unsafe(REFRESH_STATUS);
  const [settled] = await tx.unsafe<{ unknown: number }[]>(SETTLE_UNKNOWN, [UNKNOWN_REASON]);
  const { count } = await tx.unsafe(`
    update deliveries
    set status = case status when 'scheduled' then 'scheduled' else 'queued' end, wait_rule = 'restored', due_at = 'infinity',
      stage = 'idle', lease_token = null, leased_until = null, lapses = 0, updated_at = now()
    where status in ('queued', 'scheduled', 'sending')`);
  for (const [table, content] of Object.entries({ system_mails: "details", return_copies: "message" }))
    await tx.unsafe(
      `update ${table} set status = 'failed', ${content} = null, lease_token = null, ended_at = now(), last_reply = $1
       where status in ('queued', 'sending')`,
      [SYSTEM_EMAIL_REPLY],
    );
  await tx.unsafe("delete from alert_notices");
  await tx.unsafe("delete from alert_calls");
  await tx.unsafe("update sessions set revoked_at = now() where revoked_at is null");
  await tx.unsafe("delete from sign_in_tokens where spent_at is null and purpose <> 'first_user'");
  // Not revoked, so that a member can create a new link for it.
  await tx.unsafe(`
    update invitations set expires_at = least(expires_at, now()) where accepted_at is null and revoked_at is null`);
  const deletions = await tx.unsafe<HeldDeletion[]>(POSTPONE_DELETIONS);
  return { held: count, unknown: settled?.unknown ?? 0, deletions };
}

// With the backup, the team would otherwise be deleted at the first start: its waiting period is over by
// then.
const POSTPONE_DELETIONS = `
  update team_deletions set next_at = now(),
    deletes_at = case when started_at is null then greatest(deletes_at, now() + interval '${deletionDaysMin} days')
      else deletes_at end
  where canceled_at is null and ended_at is null
  returning team_name as team, case when started_at is null then deletes_at end as "deletesAt"`;

// The leases of the backup become states of deliveries. The row of the queue follows each of them.
const TAKE_LEASES = `
  with leased as (delete from queue where lease_token is not null returning *)
  update deliveries d set status = 'sending', stage = q.stage, attempts = q.attempts, lease_token = q.lease_token,
    leased_until = now()
  from leased q where (d.team_id, d.email_id, d.id) = (q.team_id, q.email_id, q.id)`;

// Before the deliveries change: the status that their emails have afterwards. A claimed delivery was counted
// as an attempt.
const REFRESH_STATUS = `
  with sending as materialized (select distinct team_id, email_id from deliveries where status = 'sending')
  update emails e set status = s.status
  from (
    select d.team_id, d.email_id, (array['${EMAIL_STATUSES.join("', '")}'])[min(array_position(
        array['${EMAIL_STATUSES.join("', '")}'],
        case when d.status = 'sending' and d.stage = 'handed_over' then 'unknown'
             when d.status in ('queued', 'sending') and d.attempts > 0 then 'deferred'
             when d.status = 'sending' then 'queued' else d.status end))] as status
    from sending join deliveries d using (team_id, email_id) group by 1, 2
  ) as s
  where e.team_id = s.team_id and e.id = s.email_id and e.status <> s.status`;

// As for a worker that stopped during the dialogue, in a team that holds unknown outcomes.
const SETTLE_UNKNOWN = `
  with settled as (
    update deliveries
    set status = 'unknown', wait_rule = null, due_at = now(), stage = 'idle', lease_token = null, leased_until = null,
      last_reason = $1, updated_at = now()
    where status = 'sending' and stage = 'handed_over'
    returning id, team_id, email_id, address, attempts, last_reason
  ), event as (
    insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
    select uuid_v7(), team_id, email_id, id, 'email.unknown', address,
      jsonb_build_object('attempt', attempts, 'reason', last_reason, 'policy', 'hold', 'rule', null)
    from settled
  )
  select count(*)::int as unknown from settled`;
