import type { HotSql } from "#db/client";
import type { SystemMailKind } from "#db/schema/system-mails";

/** An email of Backstamp itself that a worker has leased. */
export type SystemEmailClaim = {
  id: string;
  kind: SystemMailKind;
  recipient: string;
  /** Encrypted. */
  details: string;
  /** Counted at the claim: the first is 1. */
  attempt: number;
  messageId: string;
  createdAt: Date;
  expiresAt: Date;
  /** `expiresAt` has passed: the email is no longer useful. */
  isExpired: boolean;
  leaseToken: string;
};

/**
 * Claims due emails and those with an expired lease in one statement: sets a lease, counts the attempt and commits. Rows
 * locked by another worker are skipped.
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

type LeasedSystemEmail = Pick<SystemEmailClaim, "id" | "leaseToken">;

/** Records the final status and erases the content. False if the lease was lost. */
export async function finishSystemEmail(
  hot: HotSql,
  { id, leaseToken }: LeasedSystemEmail,
  { status, reply }: { status: "sent" | "failed" | "dropped"; reply: string | null },
): Promise<boolean> {
  const { count } = await hot`
    update system_mails
    set status = ${status}, details = null, ended_at = now(), lease_token = null, last_reply = ${reply}
    where id = ${id} and lease_token = ${leaseToken}`;
  return count > 0;
}

/**
 * Makes an email due again after `afterMs`, or fails it if it expires before then. Returns the new status; null if the lease
 * was lost.
 */
export async function deferSystemEmail(
  hot: HotSql,
  { id, leaseToken }: LeasedSystemEmail,
  { afterMs, reply }: { afterMs: number; reply: string },
): Promise<"queued" | "failed" | null> {
  const [row] = await hot<{ status: "queued" | "failed" }[]>`
    with late as (select id, now() + ${afterMs} * interval '1 ms' >= expires_at as is_late
      from system_mails where id = ${id} and lease_token = ${leaseToken} for no key update)
    update system_mails m
    set status = case when late.is_late then 'failed' else 'queued' end,
        details = case when late.is_late then null else m.details end,
        ended_at = case when late.is_late then now() end,
        due_at = now() + ${afterMs} * interval '1 ms', lease_token = null, last_reply = ${reply}
    from late where m.id = late.id
    returning m.status`;
  return row?.status ?? null;
}

/**
 * Deletes up to `limit` rows of each kind: ended emails after `keptDays`, dropped ones (no such account) after one hour,
 * when they no longer count towards limits, and sign-in tokens one day after they expire.
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
