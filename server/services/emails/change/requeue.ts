import type { HotSql } from "#db/client";
import { type HotTransaction, refreshEmailStatus } from "../status";

export type Retried = { id: string; emailId: string; address: string };

/**
 * States that can be retried; `deferred` is queued after at least one attempt. An `unknown` email may have
 * been delivered.
 */
export type RetryableState = "failed" | "bounced" | "deferred" | "unknown";

/**
 * Resets deliveries of these emails and queues them immediately: those in one of the `states`, either all or
 * those to `addresses`. Each gets an event. If there are any, `alongside` writes into the same transaction.
 * Returns the deliveries that were reset; all others are unchanged.
 */
export async function retryDeliveries(
  hot: HotSql,
  input: {
    teamId: string;
    emailIds: string[];
    states: readonly RetryableState[];
    addresses?: string[] | null;
    newId: () => string;
    alongside?: (tx: HotTransaction, retried: Retried[]) => Promise<void>;
  },
): Promise<Retried[]> {
  const { teamId, emailIds, states, addresses = null, newId } = input;
  return hot.begin(async (tx) => {
    const parents = await tx<{ teamId: string; id: string }[]>`
      select team_id as "teamId", id from emails where team_id = ${teamId} and id = any(${emailIds}::uuid[])
      order by team_id, id for no key update`;
    const retried = await tx<Retried[]>`
      with ended as materialized (
        select id from deliveries
        where team_id = ${teamId} and email_id = any(${parents.map(({ id }) => id)}::uuid[])
          and case when status = 'queued' and attempts > 0 then 'deferred' else status end = any(${[...states]}::text[])
          and (${addresses === null} or address = any(${addresses ?? []}::text[]))
          -- The content may have been erased before the row was locked.
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
