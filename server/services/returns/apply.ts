import type { HotSql } from "#db/client";
import type { DeliveryKey, DeliveryStatus, deliveries } from "#db/schema/deliveries";
import type { EventData, EventType } from "#db/schema/events";
import { type HotTransaction, lockDeliveries, lockEmails, refreshEmailStatus } from "../emails/status";
import { type ReportedEntry, suppressReported } from "../suppressions/suppress";

/** The state of a delivery when a report about it arrives. */
export type ReportedDelivery = Pick<
  typeof deliveries.$inferSelect,
  "id" | "teamId" | "emailId" | "address" | "domain" | "status" | "stage" | "attempts"
> & {
  /** This report was already recorded as an event. */
  isRepeated: boolean;
};

/**
 * The change to write. A new status ends the lease of a worker on the row: the worker's later result is
 * dropped.
 */
export type ReportChange = {
  status: DeliveryStatus | null;
  reply: { code: number | null; enhanced: string | null; text: string } | null;
  host: string | null;
  reason: string;
  events: { id: string; type: EventType; data: EventData }[];
  suppression: ReportedEntry | null;
};

/**
 * Locks a delivery with its email, calls `decide` for the change that a report causes, and commits it with
 * its events, their webhooks, the suppression and the email's status. A null change writes nothing. Returns
 * null if the delivery does not exist. `decide` runs once per attempt of the transaction and must have no
 * side effects.
 */
export async function applyReport(
  hot: HotSql,
  { delivery: key, report }: { delivery: DeliveryKey; report: string },
  decide: (delivery: ReportedDelivery) => ReportChange | null,
): Promise<ReportedDelivery | null> {
  return hot.begin(async (tx) => {
    const parents = await lockEmails(tx, [key]);
    await lockDeliveries(tx, key);
    const [delivery] = await tx<ReportedDelivery[]>`
      select d.id, d.team_id as "teamId", d.email_id as "emailId", d.address, d.domain,
        case when q.lease_token is not null then 'sending' else d.status end as status,
        coalesce(q.stage, 'idle') as stage, case when q.lease_token is not null then q.attempts else d.attempts end as attempts,
        exists (select from email_events e where e.team_id = d.team_id and e.email_id = d.email_id
                and e.delivery_id = d.id and e.data ->> 'report' = ${report}) as "isRepeated"
      from deliveries d left join queue q on q.id = d.id
      where d.team_id = ${key.teamId} and d.email_id = ${key.emailId} and d.id = ${key.id}`;
    if (!delivery) return null;
    const change = decide(delivery);
    if (!change) return delivery;
    if (change.status) await writeStatus(tx, delivery, change);
    for (const { id, type, data } of change.events)
      await tx`
        insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
        values (${id}, ${delivery.teamId}, ${delivery.emailId}, ${delivery.id}, ${type}, ${delivery.address},
                ${JSON.stringify(data)}::text::jsonb)`;
    if (change.suppression) await suppressReported(tx, delivery, change.suppression);
    if (change.status) await refreshEmailStatus(tx, parents);
    return delivery;
  });
}

const isDelivery = (tx: HotTransaction, { teamId, emailId, id }: DeliveryKey) =>
  tx`team_id = ${teamId} and email_id = ${emailId} and id = ${id}`;

async function writeStatus(
  tx: HotTransaction,
  delivery: ReportedDelivery,
  { status, reply, host, reason }: ReportChange,
): Promise<void> {
  await tx`delete from queue where id = ${delivery.id}`;
  await tx`
    update deliveries
    set status = ${status}, stage = 'idle', lease_token = null, leased_until = null, wait_rule = null, due_at = now(),
        attempts = ${delivery.attempts}, last_reason = ${reason}, updated_at = now()
    where ${isDelivery(tx, delivery)}`;
  if (!reply) return;
  await tx`
    update deliveries
    set last_code = ${reply.code}, last_enhanced = ${reply.enhanced}, last_text = ${reply.text}, last_host = ${host}
    where ${isDelivery(tx, delivery)}`;
}
