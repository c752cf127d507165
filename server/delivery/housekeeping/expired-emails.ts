import type { HotSql } from "#db/client";
import type { HotTransaction } from "#server/services/emails/status";

/** What a retention step deletes: message content, or whole emails. */
export type RetentionStage = "bodies" | "emails";

/** A team whose retention rules are due, with the lease of the claim. */
export type RetentionClaim = {
  teamId: string;
  leaseToken: string;
  /** The last email id of the previous claim for each stage; null without a retention period. */
  after: Record<RetentionStage, string | null>;
};

const leaseMinutes = 10;
const FIRST = "00000000-0000-0000-0000-000000000000";

/** Claims the team with the earliest due time, or returns null. After the lease is lost, further steps do nothing. */
export async function claimRetention(hot: HotSql, leaseToken: string): Promise<RetentionClaim | null> {
  const [row] = await hot<({ teamId: string } & RetentionClaim["after"])[]>`
    update retention set lease_token = ${leaseToken}, next_at = now() + ${leaseMinutes} * interval '1 minute'
    where team_id = (select team_id from retention where next_at <= now() order by next_at limit 1
      for update skip locked)
    returning team_id as "teamId", case when bodies_days is not null then coalesce(bodies_to, ${FIRST}) end as bodies,
      case when emails_days is not null then coalesce(emails_to, ${FIRST}) end as emails`;
  if (!row) return null;
  const { teamId, ...after } = row;
  return { teamId, leaseToken, after };
}

/** Releases a claim. `at` is the last id of each stage, null if the stage is complete; the next round is due in an hour. */
export async function finishRetention(
  hot: HotSql,
  claim: Pick<RetentionClaim, "teamId" | "leaseToken">,
  at: Record<RetentionStage, string | null>,
): Promise<void> {
  const isDone = at.bodies === null && at.emails === null;
  await hot`
    update retention set bodies_to = ${at.bodies}, emails_to = ${at.emails}, lease_token = null,
      next_at = case when ${isDone} then now() + interval '1 hour' else now() end
    where team_id = ${claim.teamId} and lease_token = ${claim.leaseToken}`;
}

/** Result of a step: the last email id that it read, null if there were no more, and how many emails it changed. */
export type RetentionStep = { last: string | null; removed: number };

/**
 * Reads up to `limit` old emails of a team after the id `after` and deletes the content, or the whole email, of those that
 * are terminal. An email is terminal when all its deliveries are: no attempt and no decision of a member is
 * pending, and `sent` is 14 days old, because bounces can arrive until then. Each change of a delivery locks its email,
 * and this function locks it before the check, so an email that is being resent keeps its content. Does nothing after
 * the lease is lost.
 */
export async function expireBatch(
  hot: HotSql,
  claim: Pick<RetentionClaim, "teamId" | "leaseToken">,
  stage: RetentionStage,
  { after, limit }: { after: string; limit: number },
): Promise<RetentionStep> {
  return hot.begin(async (tx) => {
    const [rule] = await tx<{ days: number | null }[]>`
      select case when ${stage === "bodies"} then bodies_days else emails_days end as days
      from retention where team_id = ${claim.teamId} and lease_token = ${claim.leaseToken} for share`;
    if (!rule || rule.days === null) return { last: null, removed: 0 };
    const range = { teamId: claim.teamId, days: rule.days, after, limit };
    const ids = await findOld(tx, stage, range);
    const last = ids.at(-1);
    if (last === undefined) return { last: null, removed: 0 };
    const locked = await lockOld(tx, { ...range, ids });
    const removed = await (stage === "bodies" ? eraseBodies : deleteEmails)(tx, claim.teamId, locked);
    return { last, removed };
  });
}

type OldRange = { teamId: string; days: number; after: string; limit: number };

/** SQL: the team's emails that the stage can change. */
const emailsOf = (tx: HotTransaction, stage: RetentionStage, teamId: string) =>
  stage === "bodies"
    ? tx`select email_id as id from email_bodies where team_id = ${teamId}`
    : tx`select id from emails where team_id = ${teamId}`;

async function findOld(
  tx: HotTransaction,
  stage: RetentionStage,
  { teamId, days, after, limit }: OldRange,
): Promise<string[]> {
  // Ids start with their creation time, so old emails are a range of the key.
  const rows = await tx<{ id: string }[]>`
    select id from (${emailsOf(tx, stage, teamId)}) as email
    where id > ${after} and id < ${firstId(tx, days)} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

const firstId = (tx: HotTransaction, days: number) => tx`
  (lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid`;

/** Locks the emails that are not locked. Also checks `created_at`, because the time in an id can be too early. */
async function lockOld(
  tx: HotTransaction,
  { teamId, days, ids }: OldRange & { ids: string[] },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from emails
    where team_id = ${teamId} and id = any(${ids}::uuid[]) and created_at < now() - ${days} * interval '1 day'
    order by id for update skip locked`;
  return rows.map(({ id }) => id);
}

/** SQL: the locked email is terminal. A separate statement after the lock, so that it reads all changes committed before. */
const isTerminal = (tx: HotTransaction, teamId: string) => tx`
  not exists (select from deliveries d where d.team_id = ${teamId} and d.email_id = locked.id
    and not (d.status in ('delivered', 'bounced', 'complained', 'failed', 'suppressed', 'canceled')
      or (d.status = 'sent' and d.updated_at < now() - interval '14 days')))`;

async function eraseBodies(tx: HotTransaction, teamId: string, locked: string[]): Promise<number> {
  const [row] = await tx<{ removed: number }[]>`
    with over as materialized (
      select locked.id from unnest(${locked}::uuid[]) as locked(id) where ${isTerminal(tx, teamId)}
    ), files as (
      delete from attachments a using over where a.team_id = ${teamId} and a.email_id = over.id
    ), captured as (
      delete from captured_messages c using over where c.team_id = ${teamId} and c.email_id = over.id
    ), bodies as (
      delete from email_bodies b using over where b.team_id = ${teamId} and b.email_id = over.id returning 1
    )
    select count(*)::int as removed from bodies`;
  return row?.removed ?? 0;
}

/** Deletes terminal emails whose events are counted in usage and have no pending webhook deliveries. */
async function deleteEmails(tx: HotTransaction, teamId: string, locked: string[]): Promise<number> {
  const [row] = await tx<{ removed: number }[]>`
    with counted as materialized (
      select position, event_id from usage_progress where team_id = ${teamId}
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
    ), gone as (
      delete from emails m using over where m.team_id = ${teamId} and m.id = over.id returning 1
    )
    select count(*)::int as removed from gone`;
  return row?.removed ?? 0;
}
