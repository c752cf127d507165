import type { HotSql } from "./client";
import { type HotTransaction, refreshEmailStatus } from "./summary";

export type Retried = { id: string; emailId: string; address: string };

/** From which states deliveries are put back. Those that are unknown may have arrived. */
export type RetryScope = "ended" | "ended or unknown" | "unknown";

/**
 * Puts deliveries of these mails back to the start, due at once: failed, bounced and deferred ones, unknown ones, or both;
 * all, or those to `addresses`. Each gets an event, and `alongside` writes into the same transaction where there are any.
 * Tells which were; all others stay as they are.
 */
export async function retryDeliveries(
  hot: HotSql,
  input: {
    teamId: string;
    emailIds: string[];
    which: RetryScope;
    addresses?: string[] | null;
    newId: () => string;
    alongside?: (tx: HotTransaction, retried: Retried[]) => Promise<void>;
  },
): Promise<Retried[]> {
  const { teamId, emailIds, which, addresses = null, newId } = input;
  const takesEnded = which !== "unknown";
  const takesUnknown = which !== "ended";
  return hot.begin(async (tx) => {
    const parents = await tx<{ teamId: string; id: string }[]>`
      select team_id as "teamId", id from emails where team_id = ${teamId} and id = any(${emailIds}::uuid[])
      order by team_id, id for no key update`;
    const retried = await tx<Retried[]>`
      with ended as materialized (
        select id from deliveries
        where team_id = ${teamId} and email_id = any(${parents.map(({ id }) => id)}::uuid[])
          and ((${takesEnded} and (status in ('failed', 'bounced') or (status = 'queued' and attempts > 0)))
               or (${takesUnknown} and status = 'unknown'))
          and (${addresses === null} or address = any(${addresses ?? []}::text[]))
          -- What the mail says may have been erased before its row was held.
          and exists (select from email_bodies b where b.team_id = ${teamId} and b.email_id = deliveries.email_id)
        order by id for no key update
      )
      update deliveries d
      set status = 'queued', attempts = 0, lapses = 0, due_at = now(), wait_rule = null, updated_at = now()
      from ended where d.id = ended.id
      returning d.id, d.email_id as "emailId", d.address`;
    await tx`
      insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
      select event_id, ${teamId}, email_id, delivery_id, 'email.queued', address, '{"reason": "Retried on request."}'
      from unnest(${retried.map(newId)}::uuid[], ${retried.map(({ emailId }) => emailId)}::uuid[],
                  ${retried.map(({ id }) => id)}::uuid[], ${retried.map(({ address }) => address)}::text[])
        as r(event_id, email_id, delivery_id, address)`;
    await refreshEmailStatus(tx, parents);
    if (retried.length > 0) await input.alongside?.(tx, retried);
    return retried;
  });
}
