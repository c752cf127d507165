import type { HotSql } from "./client";
import type { HotTransaction } from "./summary";

/** What is taken away: what mails say, or the mails whole. */
export type RetentionStage = "bodies" | "emails";

/** A team whose mail is to be looked through, held by this lease. */
export type RetentionTurn = {
  teamId: string;
  leaseToken: string;
  /** Where the last turn stopped, in each stage that has an end. */
  stages: Partial<Record<RetentionStage, { after: string }>>;
};

const leaseMinutes = 10;
const FIRST = "00000000-0000-0000-0000-000000000000";

/** Takes on the team that is due for the longest time, or null. Whoever loses the lease does nothing any more. */
export async function claimRetention(hot: HotSql, leaseToken: string): Promise<RetentionTurn | null> {
  const [row] = await hot<
    {
      teamId: string;
      hasBodies: boolean;
      hasEmails: boolean;
      bodiesTo: string | null;
      emailsTo: string | null;
    }[]
  >`
    update retention set lease_token = ${leaseToken}, next_at = now() + ${leaseMinutes} * interval '1 minute'
    where team_id = (select team_id from retention where next_at <= now() order by next_at limit 1
      for update skip locked)
    returning team_id as "teamId", bodies_days is not null as "hasBodies", emails_days is not null as "hasEmails",
      bodies_to as "bodiesTo", emails_to as "emailsTo"`;
  if (!row) return null;
  return {
    teamId: row.teamId,
    leaseToken,
    stages: {
      ...(row.hasBodies ? { bodies: { after: row.bodiesTo ?? FIRST } } : {}),
      ...(row.hasEmails ? { emails: { after: row.emailsTo ?? FIRST } } : {}),
    },
  };
}

/** Ends a turn: `at` says where each stage stopped, null where it came to its end. The next round begins in an hour. */
export async function endRetention(
  hot: HotSql,
  turn: Pick<RetentionTurn, "teamId" | "leaseToken">,
  at: Record<RetentionStage, string | null>,
): Promise<void> {
  const isDone = at.bodies === null && at.emails === null;
  await hot`
    update retention set bodies_to = ${at.bodies}, emails_to = ${at.emails}, lease_token = null,
      next_at = case when ${isDone} then now() + interval '1 hour' else now() end
    where team_id = ${turn.teamId} and lease_token = ${turn.leaseToken}`;
}

/** One step: the last mail it looked at, null where there was none any more; and of how many something was taken away. */
export type RetentionStep = { last: string | null; taken: number };

/**
 * Looks at the next old mails of a team behind `after`, at most `limit`, and takes away what of them is over. A mail is over
 * when nothing more happens to any of its recipients by itself or by a person's decision that is still owed; a `sent` one
 * after 14 days, in which a bounce may come back. Who changes a delivery holds its mail's row, and so do we from before
 * we look: a mail that is just being sent again keeps what it says. Does nothing once the lease is lost.
 */
export async function takeOld(
  hot: HotSql,
  turn: Pick<RetentionTurn, "teamId" | "leaseToken">,
  stage: RetentionStage,
  { after, limit }: { after: string; limit: number },
): Promise<RetentionStep> {
  return hot.begin(async (tx) => {
    const [rule] = await tx<{ days: number | null }[]>`
      select case when ${stage === "bodies"} then bodies_days else emails_days end as days
      from retention where team_id = ${turn.teamId} and lease_token = ${turn.leaseToken} for share`;
    if (!rule || rule.days === null) return { last: null, taken: 0 };
    const old = { teamId: turn.teamId, days: rule.days, after, limit };
    const ids = await (stage === "bodies" ? findWithBody(tx, old) : findWhole(tx, old));
    const last = ids.at(-1);
    if (last === undefined) return { last: null, taken: 0 };
    const held = await holdOld(tx, { ...old, ids });
    const taken = await (stage === "bodies" ? eraseBodies : deleteEmails)(tx, turn.teamId, held);
    return { last, taken };
  });
}

type Old = { teamId: string; days: number; after: string; limit: number };

// Ids begin with the time at which they were made, so that what is old is a span of the key.
const findWithBody = async (tx: HotTransaction, { teamId, days, after, limit }: Old): Promise<string[]> => {
  const rows = await tx<{ id: string }[]>`
    select email_id as id from email_bodies
    where team_id = ${teamId} and email_id > ${after} and email_id < ${firstId(tx, days)}
    order by email_id limit ${limit}`;
  return rows.map(({ id }) => id);
};

const findWhole = async (tx: HotTransaction, { teamId, days, after, limit }: Old): Promise<string[]> => {
  const rows = await tx<{ id: string }[]>`
    select id from emails where team_id = ${teamId} and id > ${after} and id < ${firstId(tx, days)}
    order by id limit ${limit}`;
  return rows.map(({ id }) => id);
};

const firstId = (tx: HotTransaction, days: number) => tx`
  (lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid`;

/** Holds those that nobody else holds. An id may say more than is true; when the mail was accepted counts as well. */
async function holdOld(
  tx: HotTransaction,
  { teamId, days, ids }: Old & { ids: string[] },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from emails
    where team_id = ${teamId} and id = any(${ids}::uuid[]) and created_at < now() - ${days} * interval '1 day'
    order by id for update skip locked`;
  return rows.map(({ id }) => id);
}

/** Of the mails held those that are over; read by a statement of its own, so that it sees what was committed before it held them. */
const isOver = (tx: HotTransaction, teamId: string) => tx`
  not exists (select from deliveries d where d.team_id = ${teamId} and d.email_id = held.id
    and not (d.status in ('delivered', 'bounced', 'complained', 'failed', 'suppressed', 'canceled')
      or (d.status = 'sent' and d.updated_at < now() - interval '14 days')))`;

async function eraseBodies(tx: HotTransaction, teamId: string, held: string[]): Promise<number> {
  const [row] = await tx<{ taken: number }[]>`
    with over as materialized (
      select held.id from unnest(${held}::uuid[]) as held(id) where ${isOver(tx, teamId)}
    ), files as (
      delete from attachments a using over where a.team_id = ${teamId} and a.email_id = over.id
    ), captured as (
      delete from captured_messages c using over where c.team_id = ${teamId} and c.email_id = over.id
    ), bodies as (
      delete from email_bodies b using over where b.team_id = ${teamId} and b.email_id = over.id returning 1
    )
    select count(*)::int as taken from bodies`;
  return row?.taken ?? 0;
}

/** Besides, its events must have been counted, and every endpoint told of them: after that nobody can any more. */
async function deleteEmails(tx: HotTransaction, teamId: string, held: string[]): Promise<number> {
  const [row] = await tx<{ taken: number }[]>`
    with counted as materialized (
      select position, event_id from usage_progress where team_id = ${teamId}
    ), over as materialized (
      select held.id from unnest(${held}::uuid[]) as held(id) where ${isOver(tx, teamId)}
        and not exists (select from email_events e where e.team_id = ${teamId} and e.email_id = held.id
          and not exists (select from counted c where (e.position, e.id) <= (c.position, c.event_id)))
        and not exists (select from webhook_deliveries w where w.team_id = ${teamId} and w.email_id = held.id
          and w.status in ('pending', 'attempting'))
    ), calls as (
      delete from webhook_deliveries w using over where w.team_id = ${teamId} and w.email_id = over.id
    ), gone as (
      delete from emails m using over where m.team_id = ${teamId} and m.id = over.id returning 1
    )
    select count(*)::int as taken from gone`;
  return row?.taken ?? 0;
}
