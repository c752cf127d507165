import type { HotSql } from "#db/client";
import { writeStatement } from "#db/statement";
import type { StoredSystemEmail } from "./outgoing";

/** An email of Backstamp itself that a worker has leased. */
export type SystemEmailClaim = StoredSystemEmail & {
  /** Its address. */
  recipient: string;
  /** Counted at the claim: the first is 1. */
  attempt: number;
  /** `expiresAt` has passed: the email is no longer useful. */
  isExpired: boolean;
  leaseToken: string;
};

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

export type SystemEmailResult = Pick<SystemEmailClaim, "id" | "leaseToken"> & {
  /** `queued` for a further attempt after `retryAfterMs`. */
  status: "sent" | "failed" | "dropped" | "queued";
  reply: string | null;
  retryAfterMs: number;
};

/**
 * Records results whose lease is current. A final status erases the content. An email that expires before its
 * next attempt fails. Returns the written statuses by id.
 */
export async function recordSystemEmails(
  hot: HotSql,
  results: readonly SystemEmailResult[],
): Promise<Map<string, SystemEmailResult["status"]>> {
  const written = await writeResults(hot, { results });
  return new Map(written.map(({ id, status }) => [id, status]));
}

const writeResults = writeStatement<
  { results: readonly SystemEmailResult[] },
  Pick<SystemEmailResult, "id" | "status">
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
  join system_mails m on m.id = r.id and m.lease_token = r.lease_token
  order by m.id for no key update of m
)
update system_mails m
set status = mine.status, details = case when mine.status = 'queued' then m.details end,
    ended_at = case when mine.status <> 'queued' then now() end,
    due_at = mine.due_at, lease_token = null, last_reply = mine.reply
from mine where m.id = mine.id
returning m.id, m.status`,
);

/**
 * Deletes up to `limit` rows of each kind: ended emails after `keptDays`, dropped ones (no such account)
 * after one hour, when they no longer count towards limits, and sign-in tokens one day after they expire.
 */
export async function deleteOldSystemEmails(hot: HotSql, keptDays: number, limit: number): Promise<void> {
  await hot`
    delete from system_mails where id in (
      select id from system_mails
      where ended_at < now() - case when status = 'dropped' then interval '1 hour' else ${keptDays} * interval '1 day' end
      limit ${limit})`;
  await hot`
    delete from sign_in_tokens where id in (
      select id from sign_in_tokens where expires_at < now() - interval '1 day' limit ${limit})`;
}
