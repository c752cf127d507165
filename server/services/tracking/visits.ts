import type { HotSql } from "#db/client";
import type { DeliveryStatus } from "#db/schema/deliveries";
import type { Engagement } from "#db/schema/emails";
import type { Visit } from "#db/schema/events";
import { lockEmailsOf } from "../emails/status";

/** Repeated visits of the same kind within this time are recorded once. */
const sameMinutes = 60;
/** Visit events per delivery. Without a limit, everyone with a link could add events forever. */
const visitsPerDeliveryMax = 100;

export type VisitedCopy = { teamId: string; emailId: string; deliveryId: string };
export type VisitType = "email.opened" | "email.clicked";

/** The state of a delivery at the time of a visit. */
export type VisitedDelivery = {
  recipient: string;
  status: DeliveryStatus;
  /** Time since the last hand-over; null if that is not recorded. */
  sentMsAgo: number | null;
};

/** The delivery that a copy belongs to, or null if it was deleted. */
export async function findVisited(hot: HotSql, copy: VisitedCopy): Promise<VisitedDelivery | null> {
  const [row] = await hot<VisitedDelivery[]>`
    select d.address as recipient, d.status,
      (select (extract(epoch from now() - max(e.created_at)) * 1000)::float8 from email_events e
       where e.team_id = d.team_id and e.email_id = d.email_id and e.delivery_id = d.id and e.type = 'email.sent'
      ) as "sentMsAgo"
    from deliveries d
    where d.id = ${copy.deliveryId} and d.team_id = ${copy.teamId} and d.email_id = ${copy.emailId}`;
  return row ?? null;
}

/**
 * Writes the event of a visit, with its webhooks, unless the same type of event with the same link and kind
 * of visitor was written within the last hour, or the delivery has reached `visitsPerDeliveryMax`. Returns
 * whether it was written. The status of the delivery does not change; the email stores the highest
 * engagement. Concurrent visits are written one after the other.
 */
export async function insertVisit(
  hot: HotSql,
  { teamId, emailId, deliveryId }: VisitedCopy,
  given: { id: string; type: VisitType; recipient: string; visit: Visit; engagement: Engagement | null },
): Promise<boolean> {
  const { id, type, recipient, visit, engagement } = given;
  const isNew = (sql: Pick<HotSql, "unsafe">) =>
    sql.unsafe<{ isNew: boolean }[]>(IS_NEW, [teamId, emailId, deliveryId, type, visit.by, visit.link ?? ""]);
  // Most visits are repetitions. They must not lock anything.
  if (!(await isNew(hot))[0]?.isNew) return false;
  return hot.begin(async (tx) => {
    const [parent] = await lockEmailsOf(tx, [deliveryId]);
    if (!parent || !(await isNew(tx))[0]?.isNew) return false;
    await tx`
      insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
      values (${id}, ${teamId}, ${emailId}, ${deliveryId}, ${type}, ${recipient},
              ${JSON.stringify({ visit })}::text::jsonb)`;
    if (engagement !== null)
      await tx`
        update emails set engagement = ${engagement}
        where team_id = ${teamId} and id = ${emailId} and engagement is distinct from ${engagement}
          and engagement is distinct from 'clicked'`;
    return true;
  });
}

const IS_NEW = `
  select count(*) < ${visitsPerDeliveryMax} and not coalesce(bool_or(
    type = $4::text and data -> 'visit' ->> 'by' = $5::text and coalesce(data -> 'visit' ->> 'link', '') = $6::text
    and created_at > now() - interval '${sameMinutes} minutes'), false) as "isNew"
  from email_events
  where team_id = $1::uuid and email_id = $2::uuid and delivery_id = $3::uuid
    and type in ('email.opened', 'email.clicked')`;
