import { sql } from "drizzle-orm";
import type { Db } from "#db/client";
import { ADD_DIFFERENCE } from "./add-difference";
import { COUNT_OF_STATE, OTHER_TAGS, PROVIDER_OF_DOMAIN } from "./states";

const NO_CHANGE = Object.keys(COUNT_OF_STATE)
  .map((name) => `0 as ${name}`)
  .join(", ");

/**
 * Counts that a recipient unsubscribed by the link of an email. The caller calls it once, after it added the
 * address to the suppression list; a crash between the two leaves it uncounted. Does nothing if the email was
 * deleted.
 */
export async function countUnsubscribe(
  tx: Db,
  { teamId, emailId, address }: { teamId: string; emailId: string; address: string },
): Promise<void> {
  // As each count of the team: otherwise the two could lock the same rows in another order.
  await tx.execute(sql`select from metrics_progress where team_id = ${teamId} for no key update`);
  await tx.execute(sql`
    with difference as materialized (
    select m.team_id, t.tag, u.unit, date_trunc(u.unit, m.created_at, 'UTC') as starts_at,
      m.sender_domain as domain, m.api_key_id, d.provider, ${sql.raw(NO_CHANGE)}, 1 as unsubscribed
    from emails m cross join lateral (
      select coalesce(
        (select e.data->>'provider' from email_events e
         where e.team_id = d.team_id and e.email_id = d.email_id and e.delivery_id = d.id and e.data ? 'provider'
         order by e.position desc, e.id desc limit 1),
        ${sql.raw(PROVIDER_OF_DOMAIN)}) as provider
      from deliveries d where d.team_id = m.team_id and d.email_id = m.id and lower(d.address) = lower(${address})
      order by d.position limit 1
    ) d cross join lateral (
      select '' as tag
      union
      select coalesce(k.value, ${OTHER_TAGS}::text)
      from jsonb_to_recordset(m.tags) as t(name text, value text) left join recipient_totals k
        on k.team_id = m.team_id and k.dimension = 'tag' and k.unit = 'day'
        and k.starts_at = date_trunc('day', m.created_at, 'UTC') and k.value = t.name || ':' || t.value
    ) t cross join (values ('hour'), ('day')) u(unit)
    where m.team_id = ${teamId} and m.id = ${emailId}
    ), ${sql.raw(ADD_DIFFERENCE)} select`);
}
