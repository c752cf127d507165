import type { HotSql } from "#db/client";
import { withinMs } from "#db/gate";
import { ERASED_DOMAIN } from "#db/schema/audit";
import type { Engagement } from "#db/schema/emails";
import type { Visit } from "#db/schema/events";
import type { Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { lockEmails } from "../emails/status";
import { visitorOf } from "./visitor";

/** Maximum length of a stored user agent. */
const agentCharsMax = 500;
/** A visitor who follows a link waits no longer than this for the record. */
const recordMsMax = 2_000;

/** Repeated visits of the same kind within this time are recorded once. */
const sameMinutes = 60;
/** Visit events per delivery. Without a limit, everyone with a link could add events forever. */
const visitsPerDeliveryMax = 100;

type VisitedCopy = { teamId: string; emailId: string; deliveryId: string };
type VisitType = "email.opened" | "email.clicked";

/** The engagement that a visit by a reader means. */
const ENGAGEMENT: Readonly<Record<VisitType, Engagement>> = {
  "email.opened": "opened",
  "email.clicked": "clicked",
};

export type VisitRequest = {
  type: VisitType;
  /** Target of the link. */
  link?: string;
  address: string | null;
  agent: string | null;
};

/**
 * Records a visit as an event of the delivery, with the kind of visitor. It does not change whether the email
 * counts as delivered. An open or click by a reader becomes the email's last event. Never throws: the reader
 * gets the pixel or the link even if nothing can be recorded.
 */
export async function recordVisit(
  deps: Pick<Deps, "hot" | "log" | "wake">,
  copy: VisitedCopy,
  request: VisitRequest,
): Promise<void> {
  try {
    const isNew = await withinMs(recordMsMax, writeVisit(deps, copy, request));
    if (isNew) deps.wake();
  } catch (error) {
    deps.log.warn("visit.not_recorded", { emailId: copy.emailId, ...errorFacts(error) });
  }
}

/**
 * Writes the event of a visit, with its webhooks, unless the same type of event with the same link and kind
 * of visitor was written within the last hour, or the delivery has reached `visitsPerDeliveryMax`. Returns
 * whether it was written. The status of the delivery does not change; the email stores the highest
 * engagement. Concurrent visits are written one after the other.
 */
async function writeVisit(
  { hot }: Pick<Deps, "hot">,
  { teamId, emailId, deliveryId }: VisitedCopy,
  { type, link, address, agent }: VisitRequest,
): Promise<boolean> {
  // `sentMsAgo`: since the last hand-over; null if that is not recorded. No row: the delivery was deleted, or
  // its recipient erased.
  const [found] = await hot<{ recipient: string; isInProgress: boolean; sentMsAgo: number | null }[]>`
    select d.address as recipient,
      exists (select from queue q where q.id = d.id and q.lease_token is not null) as "isInProgress",
      (select (extract(epoch from now() - max(e.created_at)) * 1000)::float8 from email_events e
       where e.team_id = d.team_id and e.email_id = d.email_id and e.delivery_id = d.id and e.type = 'email.sent'
      ) as "sentMsAgo"
    from deliveries d
    where d.id = ${deliveryId} and d.team_id = ${teamId} and d.email_id = ${emailId} and d.domain <> ${ERASED_DOMAIN}`;
  if (!found) return false;
  const { recipient, isInProgress, sentMsAgo } = found;
  const visitor = visitorOf(agent, { isInProgress, sentMsAgo });
  const visit: Visit = {
    ...visitor,
    ...(link !== undefined && { link }),
    address,
    agent: agent?.slice(0, agentCharsMax) ?? null,
  };
  const isNew = async (sql: Pick<HotSql, "unsafe">) => {
    const key = [teamId, emailId, deliveryId, type, visit.by, link ?? ""];
    const [row] = await sql.unsafe<{ isNew: boolean }[]>(IS_NEW, key);
    return row?.isNew === true;
  };
  // Most visits are repetitions. They must not lock anything.
  if (!(await isNew(hot))) return false;
  return hot.begin(async (tx) => {
    const [parent] = await lockEmails(tx, [{ teamId, emailId }]);
    if (!parent || !(await isNew(tx))) return false;
    await tx`
      insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
      values (${newId()}, ${teamId}, ${emailId}, ${deliveryId}, ${type}, ${recipient},
              ${JSON.stringify({ visit })}::text::jsonb)`;
    if (visit.by === "reader" || visit.by === "proxy")
      await tx`
        update emails set engagement = ${ENGAGEMENT[type]}
        where team_id = ${teamId} and id = ${emailId} and engagement is distinct from ${ENGAGEMENT[type]}
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
