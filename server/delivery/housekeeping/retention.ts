import type { HotSql } from "#db/client";
import type { WorkerDeps } from "#server/deps";
import { firstId } from "#server/platform/ids";
import type { HotTransaction } from "#server/services/emails/status";

/** Emails per transaction. A small number keeps row locks short. */
const emailsPerStep = 200;
/** Steps for one team before the next team. */
const stepsPerTeam = 50;
/** A team whose step failed is tried again after this time. */
const retryMinutes = 10;

/**
 * Applies the teams' retention rules: after the retention periods it erases the content of terminal emails
 * and then deletes the emails. It works in small steps and stops between them when `shouldContinue` returns
 * false; the next run continues there. If no team is due, it costs one index lookup.
 */
export async function applyRetention(deps: WorkerDeps, shouldContinue: () => boolean): Promise<void> {
  const { hot, log } = deps;
  while (shouldContinue()) {
    const rule = await findDueRule(hot);
    if (!rule) return;
    const { teamId, stoppedAt } = rule;
    const removed: Record<RetentionStage, number> = { bodies: 0, emails: 0 };
    for (const stage of ["bodies", "emails"] as const) {
      for (let step = 0; stoppedAt[stage] !== null && step < stepsPerTeam && shouldContinue(); step++) {
        const done = await expireBatch(hot, teamId, stage, { after: stoppedAt[stage], limit: emailsPerStep });
        stoppedAt[stage] = done.last;
        removed[stage] += done.removed;
      }
    }
    await recordProgress(hot, rule);
    if (removed.bodies + removed.emails > 0) log.info("retention.applied", { teamId, ...removed });
  }
}

/** What a retention step deletes: message content, or whole emails. */
type RetentionStage = "bodies" | "emails";

/**
 * The retention of a team. `stoppedAt`: the last email id that each stage has read; null if it is complete,
 * and without a retention period.
 */
type DueRule = {
  teamId: string;
  bodiesDays: number | null;
  emailsDays: number | null;
  stoppedAt: Record<RetentionStage, string | null>;
};

/**
 * The team that is due for the longest time. It is due again after some minutes, so that one whose step fails
 * does not stop the others.
 */
async function findDueRule(hot: HotSql): Promise<DueRule | undefined> {
  const [rule] = await hot<DueRule[]>`
    update retention set next_at = now() + ${retryMinutes} * interval '1 minute'
    where team_id = (select team_id from retention where next_at <= now() order by next_at limit 1
      for update skip locked)
    returning team_id as "teamId", bodies_days as "bodiesDays", emails_days as "emailsDays", jsonb_build_object(
      'bodies', case when bodies_days is not null then coalesce(bodies_to, ${firstId}) end,
      'emails', case when emails_days is not null then coalesce(emails_to, ${firstId}) end) as "stoppedAt"`;
  return rule;
}

/** The next round is due in an hour. If the team has changed its retention meanwhile, it is due at once. */
async function recordProgress(
  hot: HotSql,
  { teamId, bodiesDays, emailsDays, stoppedAt: { bodies, emails } }: DueRule,
): Promise<void> {
  const isDone = bodies === null && emails === null;
  await hot`
    update retention set bodies_to = ${bodies}, emails_to = ${emails},
      next_at = case when ${isDone} then now() + interval '1 hour' else now() end
    where team_id = ${teamId} and (bodies_days, emails_days) is not distinct from (${bodiesDays}::int, ${emailsDays}::int)`;
}

/**
 * Reads up to `limit` old emails of a team after the id `after` and deletes the content, or the whole email,
 * of those that are terminal. An email is terminal when all its deliveries are: no attempt and no decision of
 * a member is pending, and `sent` is 14 days old, because bounces can arrive until then. Each change of a
 * delivery locks its email, and this function locks it before the check, so an email that is being resent
 * keeps its content. Does nothing if the team no longer has this period. Returns the last email id that it
 * read, null if there were no more, and how many emails it changed.
 */
async function expireBatch(
  hot: HotSql,
  teamId: string,
  stage: RetentionStage,
  { after, limit }: { after: string; limit: number },
): Promise<{ last: string | null; removed: number }> {
  return hot.begin(async (tx) => {
    const [rule] = await tx<{ days: number | null }[]>`
      select case when ${stage === "bodies"} then bodies_days else emails_days end as days
      from retention where team_id = ${teamId} for share`;
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
 * Deletes terminal emails whose events are counted and that have no pending webhook
 * deliveries. The trigger `emails_deleted` (`db/functions/deleted-rows.sql`) deletes what belongs to them.
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
