import type { TransactionSql } from "postgres";
import type { DeliveryKey, DeliveryStatus } from "#db/schema/deliveries";
import { EMAIL_STATUSES } from "#db/schema/emails";
import { newId } from "#server/platform/ids";

/** A transaction of the hot connection. */
export type HotTransaction = TransactionSql;
export type EmailKey = { teamId: string; id: string };

/**
 * Locks the emails of some deliveries, always in the same order, and returns those that exist. Take these
 * locks before you change deliveries: a status computed afterwards then includes every sibling, and two
 * writers cannot deadlock.
 */
export async function lockEmails(
  tx: HotTransaction,
  deliveries: readonly Pick<DeliveryKey, "teamId" | "emailId">[],
): Promise<EmailKey[]> {
  return tx<EmailKey[]>`
    with parents as materialized (
      select distinct team_id, email_id
      from unnest(${deliveries.map(({ teamId }) => teamId)}::uuid[],
                  ${deliveries.map(({ emailId }) => emailId)}::uuid[]) as d(team_id, email_id)
    )
    select e.team_id as "teamId", e.id from parents p join emails e on e.team_id = p.team_id and e.id = p.email_id
    order by e.team_id, e.id for no key update of e`;
}

/** A delivery with its current status. */
export type LockedDelivery = { id: string; address: string; status: DeliveryStatus };

/**
 * Locks the deliveries of an email, which the caller has locked, and their rows in the queue: no worker
 * claims one of them until the transaction ends, and one that was claimed before is `sending`. The statement
 * is written with the template tag of either client.
 */
export const lockDeliveries = <T>(
  sql: (text: TemplateStringsArray, ...values: string[]) => T,
  { teamId, emailId }: Pick<DeliveryKey, "teamId" | "emailId">,
): T => sql`
  with waiting as materialized (
    select q.id, q.lease_token from deliveries d join queue q on q.id = d.id
    where d.team_id = ${teamId} and d.email_id = ${emailId} order by d.id for update
  )
  select d.id, d.address, case when q.lease_token is not null then 'sending' else d.status end as status
  from deliveries d left join waiting q on q.id = d.id
  where d.team_id = ${teamId} and d.email_id = ${emailId} order by d.id for update of d`;

/**
 * Writes the status of the worst recipient into emails whose rows the caller has locked. EMAIL_STATUSES
 * defines the order, worst first; a queued delivery with at least one attempt counts as deferred.
 */
export async function refreshEmailStatus(tx: HotTransaction, parents: EmailKey[]): Promise<void> {
  await tx`
    update emails e set status = s.status
    from (select p.team_id, p.email_id,
            (${EMAIL_STATUSES}::text[])[min(array_position(${EMAIL_STATUSES}::text[],
              case when q.lease_token is not null then 'sending'
                when d.status = 'queued' and d.attempts > 0 then 'deferred' else d.status end))] as status
          from unnest(${parents.map(({ teamId }) => teamId)}::uuid[], ${parents.map(({ id }) => id)}::uuid[])
            as p(team_id, email_id)
          join deliveries d on d.team_id = p.team_id and d.email_id = p.email_id
          left join queue q on q.id = d.id
          group by p.team_id, p.email_id) s
    where e.team_id = s.team_id and e.id = s.email_id and e.status <> s.status`;
}

/** Records an event for each of these deliveries: its new status, on request, with the reason. */
export async function recordStatusEvents(
  tx: HotTransaction,
  teamId: string,
  deliveries: readonly { id: string; emailId: string; address: string; status: string }[],
  reason: string,
): Promise<void> {
  await tx`
    insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
    select event_id, ${teamId}, email_id, delivery_id, 'email.' || status, address, jsonb_build_object('reason', ${reason}::text)
    from unnest(${deliveries.map(newId)}::uuid[], ${deliveries.map(({ emailId }) => emailId)}::uuid[],
                ${deliveries.map(({ id }) => id)}::uuid[], ${deliveries.map(({ address }) => address)}::text[],
                ${deliveries.map(({ status }) => status)}::text[])
      as s(event_id, email_id, delivery_id, address, status)`;
}
