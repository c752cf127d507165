import type { HotSql } from "./client";
import type { DeliveryStatus } from "./schema/deliveries";
import type { Visit } from "./schema/events";
import { lockEmailsOf } from "./summary";

/** A visit like an earlier one tells nothing new for so many minutes. */
const sameMinutes = 60;
/** Events of visits that one delivery can bring: whoever has a link can follow it for ever. */
const visitsPerDeliveryMax = 100;

export type VisitedCopy = { teamId: string; emailId: string; deliveryId: string };
export type VisitType = "email.opened" | "email.clicked";

/** What is known of a delivery when somebody visits. */
export type Sighting = {
  recipient: string;
  status: DeliveryStatus;
  /** Since it was last handed over; null where that is not recorded. */
  sentMsAgo: number | null;
};

/** The delivery that a copy went out for, or null where it is gone. */
export async function findVisited(hot: HotSql, copy: VisitedCopy): Promise<Sighting | null> {
  const [row] = await hot<Sighting[]>`
    select d.address as recipient, d.status,
      (select (extract(epoch from now() - max(e.created_at)) * 1000)::float8 from email_events e
       where e.team_id = d.team_id and e.email_id = d.email_id and e.delivery_id = d.id and e.type = 'email.sent'
      ) as "sentMsAgo"
    from deliveries d
    where d.id = ${copy.deliveryId} and d.team_id = ${copy.teamId} and d.email_id = ${copy.emailId}`;
  return row ?? null;
}

/**
 * Writes the event of a visit, with its webhooks, unless one of the same kind, to the same link and of the same sort of
 * visitor was written within the hour, or the delivery has had its share. Tells whether it was written. What became of the
 * delivery stays as it is. Visits that come together are written one after the other.
 */
export async function insertVisit(
  hot: HotSql,
  { teamId, emailId, deliveryId }: VisitedCopy,
  given: { id: string; type: VisitType; recipient: string; visit: Visit },
): Promise<boolean> {
  const { id, type, recipient, visit } = given;
  const isNew = (sql: Pick<HotSql, "unsafe">) =>
    sql.unsafe<{ isNew: boolean }[]>(IS_NEW, [teamId, emailId, deliveryId, type, visit.by, visit.link ?? ""]);
  // Most visits are repetitions, and those shall lock nothing.
  if (!(await isNew(hot))[0]?.isNew) return false;
  return hot.begin(async (tx) => {
    const [parent] = await lockEmailsOf(tx, [deliveryId]);
    if (!parent || !(await isNew(tx))[0]?.isNew) return false;
    await tx`
      insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
      values (${id}, ${teamId}, ${emailId}, ${deliveryId}, ${type}, ${recipient},
              ${JSON.stringify({ visit })}::text::jsonb)`;
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
