import type { HotSql } from "#db/client";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import type { HotTransaction } from "#server/services/emails/status";

/** Emails per transaction. A small number keeps row locks short. */
const emailsPerStep = 200;
/** Steps for one team before the next team's claim. */
const stepsPerClaim = 50;

/**
 * Applies the teams' retention rules: after the retention periods it erases the content of terminal emails
 * and then deletes the emails. It works in small steps and stops between them when `shouldContinue` returns
 * false; the next run continues there. If no team is due, it costs one index lookup.
 */
export async function applyRetention(deps: WorkerDeps, shouldContinue: () => boolean): Promise<void> {
  const { hot, log } = deps;
  while (shouldContinue()) {
    const claim = await claimRetention(hot, newId());
    if (!claim) return;
    const stoppedAt = { ...claim.after };
    const removed: Record<RetentionStage, number> = { bodies: 0, emails: 0 };
    for (const stage of ["bodies", "emails"] as const) {
      for (let step = 0; stoppedAt[stage] !== null && step < stepsPerClaim && shouldContinue(); step++) {
        const done = await expireBatch(hot, claim, stage, { after: stoppedAt[stage], limit: emailsPerStep });
        stoppedAt[stage] = done.last;
        removed[stage] += done.removed;
      }
    }
    await finishRetention(hot, claim, stoppedAt);
    if (removed.bodies + removed.emails > 0)
      log.info("retention.taken", { teamId: claim.teamId, ...removed });
  }
}

/** What a retention step deletes: message content, or whole emails. */
type RetentionStage = "bodies" | "emails";

type Lease = { teamId: string; leaseToken: string };
type Progress = Record<RetentionStage, string | null>;

/**
 * A team whose retention rules are due, with the lease of the claim. `after`: the last email id of the
 * previous claim for each stage; null without a retention period.
 */
type RetentionClaim = Lease & { after: Progress };

const leaseMinutes = 10;
const FIRST = "00000000-0000-0000-0000-000000000000";

/**
 * Claims the team with the earliest due time, or returns null. After the lease is lost, further steps do
 * nothing.
 */
export async function claimRetention(hot: HotSql, leaseToken: string): Promise<RetentionClaim | null> {
  const [row] = await hot<({ teamId: string } & Progress)[]>`
    update retention set lease_token = ${leaseToken}, next_at = now() + ${leaseMinutes} * interval '1 minute'
    where team_id = (select team_id from retention where next_at <= now() order by next_at limit 1
      for update skip locked)
    returning team_id as "teamId", case when bodies_days is not null then coalesce(bodies_to, ${FIRST}) end as bodies,
      case when emails_days is not null then coalesce(emails_to, ${FIRST}) end as emails`;
  if (!row) return null;
  const { teamId, ...after } = row;
  return { teamId, leaseToken, after };
}

/**
 * Releases a claim. `at` is the last id of each stage, null if the stage is complete; the next round is due
 * in an hour.
 */
export async function finishRetention(
  hot: HotSql,
  { teamId, leaseToken }: Lease,
  at: Progress,
): Promise<void> {
  const isDone = at.bodies === null && at.emails === null;
  await hot`
    update retention set bodies_to = ${at.bodies}, emails_to = ${at.emails}, lease_token = null,
      next_at = case when ${isDone} then now() + interval '1 hour' else now() end
    where team_id = ${teamId} and lease_token = ${leaseToken}`;
}

/**
 * Reads up to `limit` old emails of a team after the id `after` and deletes the content, or the whole email,
 * of those that are terminal. An email is terminal when all its deliveries are: no attempt and no decision of
 * a member is pending, and `sent` is 14 days old, because bounces can arrive until then. Each change of a
 * delivery locks its email, and this function locks it before the check, so an email that is being resent
 * keeps its content. Does nothing after the lease is lost. Returns the last email id that it read, null if
 * there were no more, and how many emails it changed.
 */
export async function expireBatch(
  hot: HotSql,
  { teamId, leaseToken }: Lease,
  stage: RetentionStage,
  { after, limit }: { after: string; limit: number },
): Promise<{ last: string | null; removed: number }> {
  return hot.begin(async (tx) => {
    const [rule] = await tx<{ days: number | null }[]>`
      select case when ${stage === "bodies"} then bodies_days else emails_days end as days
      from retention where team_id = ${teamId} and lease_token = ${leaseToken} for share`;
    const days = rule?.days ?? null;
    if (days === null) return { last: null, removed: 0 };
    // Ids start with their creation time, so old emails are a range of the key.
    const old = await tx<{ id: string }[]>`
      select id from (${EMAILS_OF[stage](tx, teamId)}) as email
      where id > ${after} and id < (lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0')
        || '70008000000000000000')::uuid order by id limit ${limit}`;
    // Emails that are locked are skipped. The time in an id can be too early, so `created_at` counts.
    const locked = await tx<{ id: string }[]>`
      select id from emails
      where team_id = ${teamId} and id = any(${old.map(({ id }) => id)}::uuid[])
        and created_at < now() - ${days} * interval '1 day'
      order by id for update skip locked`;
    const ids = locked.map(({ id }) => id);
    const { count } = await (stage === "bodies" ? eraseBodies : deleteEmails)(tx, teamId, ids);
    return { last: old.at(-1)?.id ?? null, removed: count };
  });
}

/** SQL: the team's emails that each stage can change. */
const EMAILS_OF = {
  bodies: (tx: HotTransaction, teamId: string) =>
    tx`select email_id as id from email_bodies where team_id = ${teamId}`,
  emails: (tx: HotTransaction, teamId: string) => tx`select id from emails where team_id = ${teamId}`,
};

/**
 * SQL: the locked email is terminal. A separate statement after the lock, so that it reads all changes
 * committed before.
 */
const isTerminal = (tx: HotTransaction, teamId: string) => tx`
  not exists (select from deliveries d where d.team_id = ${teamId} and d.email_id = locked.id
    and not (d.status in ('delivered', 'bounced', 'complained', 'failed', 'suppressed', 'canceled')
      or (d.status = 'sent' and d.updated_at < now() - interval '14 days')))`;

const eraseBodies = (tx: HotTransaction, teamId: string, locked: string[]) => tx`
    with over as materialized (
      select locked.id from unnest(${locked}::uuid[]) as locked(id) where ${isTerminal(tx, teamId)}
    ), files as (
      delete from attachments a using over where a.team_id = ${teamId} and a.email_id = over.id
    ), captured as (
      delete from captured_messages c using over where c.team_id = ${teamId} and c.email_id = over.id
    )
    delete from email_bodies b using over where b.team_id = ${teamId} and b.email_id = over.id`;

/**
 * Deletes terminal emails whose events are counted and have no pending webhook
 * deliveries.
 */
const deleteEmails = (tx: HotTransaction, teamId: string, locked: string[]) => tx`
    with counted as materialized (
      select position, event_id from metrics_progress where team_id = ${teamId}
    ), over as materialized (
      select locked.id from unnest(${locked}::uuid[]) as locked(id) where ${isTerminal(tx, teamId)}
        and not exists (select from email_events e where e.team_id = ${teamId} and e.email_id = locked.id
          and not exists (select from counted c where (e.position, e.id) <= (c.position, c.event_id)))
        and not exists (select from webhook_deliveries w where w.team_id = ${teamId} and w.email_id = locked.id
          and w.status in ('pending', 'attempting'))
    ), call as materialized (
      select w.id from over join webhook_deliveries w on w.team_id = ${teamId} and w.email_id = over.id
      order by w.id for update of w
    ), calls as (
      delete from webhook_deliveries w using call where w.id = call.id
    )
    delete from emails m using over where m.team_id = ${teamId} and m.id = over.id`;
