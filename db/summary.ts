import type { HotSql } from "./client";
import { EMAIL_STATUSES } from "./schema/emails";

/** A transaction of the hot connection. */
export type HotTransaction = Pick<HotSql, "unsafe">;
export type EmailKey = { teamId: string; id: string };

/**
 * Locks the mails of some deliveries, always in the same order. Whoever changes deliveries takes these locks first, so
 * that a summary computed afterwards sees every sibling, and two writers never wait for each other in a circle.
 */
export async function lockEmailsOf(tx: HotTransaction, deliveryIds: string[]): Promise<EmailKey[]> {
  return tx.unsafe<EmailKey[]>(
    `select team_id as "teamId", id from emails
     where (team_id, id) in (select team_id, email_id from deliveries where id = any($1::uuid[]))
     order by team_id, id for no key update`,
    [deliveryIds],
  );
}

// Worst first, as the public status of a mail is defined; a queued row that was tried before counts as deferred.
const WORST_FIRST = `array[${EMAIL_STATUSES.map((status) => `'${status}'`).join()}]`;
const WORST_RECIPIENT = `
  (${WORST_FIRST})[min(array_position(${WORST_FIRST},
    case when d.status = 'queued' and d.attempts > 0 then 'deferred' else d.status end))]`;

/** Writes the worst recipient's status into mails whose rows the caller holds locked. */
export async function refreshEmailStatus(tx: HotTransaction, parents: EmailKey[]): Promise<void> {
  await tx.unsafe(
    `update emails e set status = s.status
     from (select d.team_id, d.email_id, ${WORST_RECIPIENT} as status
           from unnest($1::uuid[], $2::uuid[]) as p(team_id, email_id)
           join deliveries d on d.team_id = p.team_id and d.email_id = p.email_id
           group by d.team_id, d.email_id) s
     where e.team_id = s.team_id and e.id = s.email_id and e.status <> s.status`,
    [parents.map(({ teamId }) => teamId), parents.map(({ id }) => id)],
  );
}
