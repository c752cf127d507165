import type { HotSql } from "./client";
import type { SystemMailKind } from "./schema/system-mails";

/** A mail of our own that a worker holds until its lease ends. */
export type SystemMailClaim = {
  id: string;
  kind: SystemMailKind;
  recipient: string;
  /** Sealed. */
  details: string;
  /** Counted at the claim: the first is 1. */
  attempt: number;
  messageId: string;
  createdAt: Date;
  expiresAt: Date;
  /** Nobody waits for it any more. */
  isExpired: boolean;
  leaseToken: string;
};

/**
 * Takes what is due, and what a worker that died had in hand, by one statement: sets a lease, counts the attempt and commits.
 * Rows that another worker is just taking are passed over.
 */
export async function claimSystemMails(
  hot: HotSql,
  { limit, leaseToken, forMs }: { limit: number; leaseToken: string; forMs: number },
): Promise<SystemMailClaim[]> {
  return hot<SystemMailClaim[]>`
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

type Held = Pick<SystemMailClaim, "id" | "leaseToken">;

/** Ends a mail, and with it all that was kept of what it says. False where the claim was not ours any more. */
export async function endSystemMail(
  hot: HotSql,
  { id, leaseToken }: Held,
  { status, reply }: { status: "sent" | "failed" | "dropped"; reply: string | null },
): Promise<boolean> {
  const { count } = await hot`
    update system_mails
    set status = ${status}, details = null, ended_at = now(), lease_token = null, last_reply = ${reply}
    where id = ${id} and lease_token = ${leaseToken}`;
  return count > 0;
}

/**
 * Makes a mail due again after some time, or ends it where nobody would wait for it by then. Tells which; null where the claim
 * was not ours any more.
 */
export async function putOffSystemMail(
  hot: HotSql,
  { id, leaseToken }: Held,
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
 * Forgets what ended: mail after `keptDays`, that which was for nobody as soon as it does not count any more, and tokens a day
 * after they open nothing. Up to `limit` rows of each.
 */
export async function forgetSystemMails(hot: HotSql, keptDays: number, limit: number): Promise<void> {
  await hot`
    delete from system_mails where id in (
      select id from system_mails
      where ended_at < now() - case when status = 'dropped' then interval '1 hour' else ${keptDays} * interval '1 day' end
      limit ${limit})`;
  await hot`
    delete from sign_in_tokens where id in (
      select id from sign_in_tokens where expires_at < now() - interval '1 day' limit ${limit})`;
}
