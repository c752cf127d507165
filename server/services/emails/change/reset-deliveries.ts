import type { Ctx } from "#server/deps";
import { type AuditEntry, recordAuditHot } from "../../audit/record";
import { recordStatusEvents, refreshEmailStatus } from "../status";

export type ResetDelivery = { id: string; emailId: string; address: string };

/**
 * States that can be retried; `deferred` is queued after at least one attempt. An `unknown` email may have
 * been delivered.
 */
export type RetryableState = "failed" | "bounced" | "deferred" | "unknown";

const REASONS = {
  queued: "Retried on request.",
  sent: "Marked as sent on request.",
  failed: "Marked as failed on request.",
} as const;

/**
 * Gives deliveries of these emails a new status: those in one of the `states`, either all or those to
 * `addresses`. `queued` queues them immediately, `sent` and `failed` record them so. Each gets an event. If
 * there are any, the audit entry that `auditOf` makes is written in the same transaction. Returns the
 * deliveries that were changed; all others are unchanged.
 */
export async function resetDeliveries(
  ctx: Ctx,
  input: {
    emailIds: readonly string[];
    states: readonly RetryableState[];
    addresses: readonly string[] | null;
    to: keyof typeof REASONS;
  },
  auditOf: (reset: readonly ResetDelivery[]) => AuditEntry,
): Promise<ResetDelivery[]> {
  const { teamId, hot } = ctx;
  const { emailIds, states, addresses, to } = input;
  const isQueued = to === "queued";
  const reset = await hot.begin(async (tx) => {
    const parents = await tx<{ teamId: string; id: string }[]>`
      select team_id as "teamId", id from emails where team_id = ${teamId} and id = any(${[...emailIds]}::uuid[])
      order by team_id, id for no key update`;
    const changed = await tx<ResetDelivery[]>`
      with ended as materialized (
        select email_id, id from deliveries
        where team_id = ${teamId} and email_id = any(${parents.map(({ id }) => id)}::uuid[])
          and case when status = 'queued' and attempts > 0 then 'deferred' else status end = any(${[...states]}::text[])
          -- Only the decision about the restored email releases it, see services/restores/held.ts.
          and wait_rule is distinct from 'restored'
          and (${addresses === null} or address = any(${[...(addresses ?? [])]}::text[]))
          -- The content may have been erased before the row was locked.
          and (${!isQueued} or exists (
            select from email_bodies b where b.team_id = ${teamId} and b.email_id = deliveries.email_id))
        order by id for no key update
      )
      update deliveries d
      set status = ${to}, updated_at = now()
        ${isQueued ? tx`, attempts = 0, lapses = 0, due_at = now(), wait_rule = null` : tx``}
      from ended where d.team_id = ${teamId} and d.email_id = ended.email_id and d.id = ended.id
      returning d.id, d.email_id as "emailId", d.address`;
    const events = changed.map((each) => ({ ...each, status: to }));
    await recordStatusEvents(tx, teamId, events, REASONS[to]);
    await refreshEmailStatus(tx, parents);
    if (changed.length > 0) await recordAuditHot(tx, ctx, auditOf(changed));
    return changed;
  });
  if (isQueued && reset.length > 0) ctx.wake();
  return reset;
}
