import type { HotSql } from "#db/client";
import type { ReturnKind } from "#db/schema/events";
import { writeStatement } from "#db/statement";
import type { StoredSystemEmail } from "./outgoing";

/** An email of Backstamp itself that a worker has leased: of one of its two queues. */
export type OwnEmailClaim = {
  id: string;
  kind: string;
  /** Its address. */
  recipient: string;
  /** Counted at the claim: the first is 1. */
  attempt: number;
  /** `expiresAt` has passed: the email is no longer useful. */
  isExpired: boolean;
  leaseToken: string;
};

export type SystemEmailClaim = OwnEmailClaim & StoredSystemEmail;

/**
 * Claims due emails and those with an expired lease in one statement: sets a lease, counts the attempt and
 * commits. Rows locked by another worker are skipped.
 */
export async function claimSystemEmails(
  hot: HotSql,
  { limit, leaseToken, forMs }: { limit: number; leaseToken: string; forMs: number },
): Promise<SystemEmailClaim[]> {
  return hot<SystemEmailClaim[]>`
    with due as materialized (
      select id from system_mails where status in ('queued', 'sending') and due_at <= now()
      order by due_at limit ${limit} for update skip locked)
    update system_mails m
    set status = 'sending', attempts = m.attempts + 1, lease_token = ${leaseToken},
        due_at = now() + ${forMs} * interval '1 ms'
    from due where m.id = due.id
    returning m.id, m.kind, m.recipient, m.details, m.attempts as attempt, m.message_id as "messageId",
      m.created_at as "createdAt", m.expires_at as "expiresAt", m.expires_at <= now() as "isExpired",
      m.lease_token as "leaseToken"`;
}

/** A claimed copy of a returned message. */
export type CopyClaim = OwnEmailClaim & { kind: ReturnKind; teamId: string };

/**
 * Claims a due copy like a system email. A team has one at a time, so that its mailbox cannot delay the
 * copies of others.
 */
export async function claimCopy(
  hot: HotSql,
  { leaseToken, forMs }: { leaseToken: string; forMs: number },
): Promise<CopyClaim[]> {
  return hot<CopyClaim[]>`
    with due as materialized (
      select c.id from return_copies c
      where c.status in ('queued', 'sending') and c.due_at <= now() and not exists (
        select from return_copies o where o.team_id = c.team_id and o.status = 'sending' and o.due_at > now())
      order by c.due_at limit 1 for update skip locked)
    update return_copies c
    set status = 'sending', attempts = c.attempts + 1, lease_token = ${leaseToken},
        due_at = now() + ${forMs} * interval '1 ms'
    from due where c.id = due.id
    returning c.id, c.team_id as "teamId", c.kind, c.recipient, c.attempts as attempt,
      c.expires_at <= now() as "isExpired", c.lease_token as "leaseToken"`;
}

export type OwnEmailResult = Pick<OwnEmailClaim, "id" | "leaseToken"> & {
  /** `queued` for a further attempt after `retryAfterMs`. */
  status: "sent" | "failed" | "dropped" | "queued";
  reply: string | null;
  retryAfterMs: number;
};

/**
 * Records results whose lease is current. A final status erases the content. An email that expires before its
 * next attempt fails. Returns the written statuses by id.
 */
export const recordSystemEmails = recorderOf("system_mails", "details");
/** The same for copies. */
export const recordCopies = recorderOf("return_copies", "message");

/** `content`: the column that a final status erases. */
function recorderOf(table: string, content: string) {
  const writeResults = writeStatement<
    { results: readonly OwnEmailResult[] },
    Pick<OwnEmailResult, "id" | "status">
  >(
    ({ rows }) => `
with mine as materialized (
  select m.id, r.reply, now() + r.retry_after_ms * interval '1 ms' as due_at,
    case when r.status = 'queued' and now() + r.retry_after_ms * interval '1 ms' >= m.expires_at then 'failed'
         else r.status end as status
  from ${rows("results", {
    id: ["uuid", ({ id }) => id],
    lease_token: ["uuid", ({ leaseToken }) => leaseToken],
    status: ["text", ({ status }) => status],
    reply: ["text", ({ reply }) => reply],
    retry_after_ms: ["int", ({ retryAfterMs }) => retryAfterMs],
  })} as r
  join ${table} m on m.id = r.id and m.lease_token = r.lease_token
  order by m.id for no key update of m
)
update ${table} m
set status = mine.status, ${content} = case when mine.status = 'queued' then m.${content} end,
    ended_at = case when mine.status <> 'queued' then now() end,
    due_at = mine.due_at, lease_token = null, last_reply = mine.reply
from mine where m.id = mine.id
returning m.id, m.status`,
  );
  return async (
    hot: HotSql,
    results: readonly OwnEmailResult[],
  ): Promise<Map<string, OwnEmailResult["status"]>> => {
    const written = await writeResults(hot, { results });
    return new Map(written.map(({ id, status }) => [id, status]));
  };
}

/**
 * Deletes up to `limit` rows of each kind: ended emails and copies after `keptDays`, dropped emails (no such
 * account) after one hour, when they no longer count towards limits, and sign-in tokens one day after they
 * expire.
 */
export async function deleteOldSystemEmails(hot: HotSql, keptDays: number, limit: number): Promise<void> {
  await hot`
    delete from system_mails where id in (
      select id from system_mails
      where ended_at < now() - case when status = 'dropped' then interval '1 hour' else ${keptDays} * interval '1 day' end
      limit ${limit})`;
  await hot`
    delete from return_copies where id in (
      select id from return_copies where ended_at < now() - ${keptDays} * interval '1 day' limit ${limit})`;
  await hot`
    delete from sign_in_tokens where id in (
      select id from sign_in_tokens where expires_at < now() - interval '1 day' limit ${limit})`;
}
