import type { ReservedSql } from "postgres";

const SYSTEM_EMAIL_REPLY =
  "Not sent, because the installation was restored from a backup. It may have been sent before.";

/**
 * Makes a loaded backup safe to start, in the transaction that loads it. Whatever was about to be sent at the time of the
 * backup may have been sent since. So deliveries are held until a member or the operator decides, and system emails are not sent. Sessions
 * and emailed links that ended after the backup must not be valid again, so all of them end. The statements work on the
 * schema of every release that can be restored. Returns the number of held deliveries.
 */
export async function holdRestored(tx: Pick<ReservedSql, "unsafe">): Promise<number> {
  // A claimed delivery was counted as an attempt, and its email has the status of a delivery in progress.
  await tx.unsafe(`
    update emails e set status = 'deferred' from deliveries d
    where d.status = 'sending' and e.team_id = d.team_id and e.id = d.email_id and e.status = 'sending'`);
  const { count } = await tx.unsafe(`
    update deliveries
    set status = case status when 'scheduled' then 'scheduled' else 'queued' end, wait_rule = 'restored', due_at = 'infinity',
      stage = 'idle', lease_token = null, leased_until = null, lapses = 0, updated_at = now()
    where status in ('queued', 'scheduled', 'sending')`);
  await tx.unsafe(
    `update system_mails set status = 'failed', details = null, lease_token = null, ended_at = now(), last_reply = $1
     where status in ('queued', 'sending')`,
    [SYSTEM_EMAIL_REPLY],
  );
  await tx.unsafe("update sessions set revoked_at = now() where revoked_at is null");
  await tx.unsafe("delete from sign_in_tokens where spent_at is null and purpose <> 'first_user'");
  return count;
}
