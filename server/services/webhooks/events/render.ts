import type { HotSql } from "#db/client";
import type { webhookDeliveries } from "#db/schema/webhooks";
import { presentSuppression, suppressionOf } from "#server/shared/wire/suppression";
import { emailPayload, eventPayload, type PayloadSource } from "./payload";

/** What a body is rendered from. */
export type Rendered = Pick<
  typeof webhookDeliveries.$inferSelect,
  "id" | "teamId" | "type" | "emailId" | "eventId" | "data" | "payload" | "createdAt"
>;

/**
 * The bodies of event deliveries by id: the stored one, or else rendered from the event. A stored body never
 * changes, so that all attempts sign the same bytes. Events of deleted emails have none.
 */
export async function renderPayloads(
  hot: HotSql,
  deliveries: readonly Rendered[],
): Promise<Map<string, string>> {
  const sources = await readEmailEvents(
    hot,
    deliveries.filter(({ payload }) => payload === null),
  );
  return new Map(
    deliveries.flatMap((delivery) => {
      const payload = delivery.payload ?? renderPayload(delivery, sources);
      return payload === null ? [] : [[delivery.id, payload]];
    }),
  );
}

function renderPayload(
  { type, data, eventId, createdAt }: Rendered,
  sources: Map<string, PayloadSource>,
): string | null {
  if (data) return eventPayload(type, createdAt, presentSuppression(suppressionOf(data)));
  const source = eventId && sources.get(eventId);
  return source ? emailPayload(source) : null;
}

/** The email events of some deliveries, by event id. Events of deleted emails are missing. */
async function readEmailEvents(
  hot: HotSql,
  deliveries: readonly Rendered[],
): Promise<Map<string, PayloadSource>> {
  const refs = deliveries.filter(({ eventId }) => eventId !== null);
  if (refs.length === 0) return new Map();
  const rows = await hot<(PayloadSource & { eventId: string })[]>`
    select v.id as "eventId", v.type, v.recipient, v.data, v.created_at as "createdAt",
      (select count(*)::int from email_events o
       where o.team_id = v.team_id and o.email_id = v.email_id and (o.created_at, o.id) <= (v.created_at, v.id)
      ) as sequence,
      e.id as "emailId", e.created_at as "emailCreatedAt", e.message_id as "messageId", e.sender, e."to", e.subject, e.tags,
      e.headers, e.template_id as "templateId"
    from unnest(${refs.map(({ teamId }) => teamId)}::uuid[], ${refs.map(({ emailId }) => emailId)}::uuid[],
                ${refs.map(({ eventId }) => eventId)}::uuid[]) as r(team_id, email_id, event_id)
    join email_events v on v.team_id = r.team_id and v.email_id = r.email_id and v.id = r.event_id
    join emails e on e.team_id = r.team_id and e.id = r.email_id`;
  return new Map(rows.map(({ eventId, ...source }) => [eventId, source]));
}
