import type { HotSql } from "./client";

/** How long people are told what happened to their account. */
export const accountEventDays = 90;

/** How long an address counts as known from which somebody signed in. Longer than a session lasts. */
export const sessionDays = 90;

/**
 * Forgets what no longer counts of signing in, up to `limit` rows of each kind: events of accounts, and sessions with their
 * address and browser, after 90 days; second steps and challenges of passkeys once they have run out.
 */
export async function forgetAccountRecords(hot: HotSql, limit: number): Promise<void> {
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
