import type { HotSql } from "#db/client";

/** Retention of account events, in days. */
export const accountEventDays = 90;

/**
 * How long an IP address counts as known after a sign-in from it, in days. Longer than the lifetime of a
 * session.
 */
export const sessionDays = 90;

/**
 * Deletes old sign-in records, up to `limit` rows of each kind: account events and sessions (with IP address
 * and browser) after 90 days, 2FA challenges and passkey challenges once they have expired.
 */
export async function deleteOldAccountRecords(hot: HotSql, limit: number): Promise<void> {
  await hot`
    delete from account_events where id in (
      select id from account_events where created_at < now() - ${accountEventDays} * interval '1 day' limit ${limit})`;
  await hot`
    delete from sessions where id in (
      select id from sessions
      where created_at < now() - ${sessionDays} * interval '1 day' and expires_at < now() limit ${limit})`;
  await hot`
    delete from second_steps where token_hash in (
      select token_hash from second_steps where expires_at < now() limit ${limit})`;
  await hot`
    delete from passkey_challenges where challenge in (
      select challenge from passkey_challenges where expires_at < now() limit ${limit})`;
}
