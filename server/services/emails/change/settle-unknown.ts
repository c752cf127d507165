import type { HotSql } from "#db/client";
import { type HotTransaction, refreshEmailStatus } from "../status";

/**
 * Marks deliveries of one email whose outcome is unknown as sent: all of them, or those to `addresses`. Each
 * gets an event. If there are any, `alongside` writes into the same transaction. Returns their addresses; all
 * others are unchanged.
 */
export async function markAsSent(
  hot: HotSql,
  input: {
    teamId: string;
    emailId: string;
    addresses: string[] | null;
    newId: () => string;
    alongside?: (tx: HotTransaction, addresses: string[]) => Promise<void>;
  },
): Promise<string[]> {
  const { teamId, emailId, addresses, newId } = input;
  return hot.begin(async (tx) => {
    const parents = await tx<{ teamId: string; id: string }[]>`
      select team_id as "teamId", id from emails where team_id = ${teamId} and id = ${emailId} for no key update`;
    const settled = await tx<{ id: string; address: string }[]>`
      with held as materialized (
        select id from deliveries
        where team_id = ${teamId} and email_id = ${emailId} and status = 'unknown'
          and (${addresses === null} or address = any(${addresses ?? []}::text[]))
        order by id for no key update
      )
      update deliveries d set status = 'sent', updated_at = now() from held where d.id = held.id
      returning d.id, d.address`;
    await tx`
      insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
      select event_id, ${teamId}, ${emailId}, delivery_id, 'email.sent', address, '{"reason": "Marked as sent on request."}'
      from unnest(${settled.map(newId)}::uuid[], ${settled.map(({ id }) => id)}::uuid[],
                  ${settled.map(({ address }) => address)}::text[]) as s(event_id, delivery_id, address)`;
    await refreshEmailStatus(tx, parents);
    const marked = settled.map(({ address }) => address);
    if (marked.length > 0) await input.alongside?.(tx, marked);
    return marked;
  });
}
