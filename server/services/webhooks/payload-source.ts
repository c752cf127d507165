import type { HotSql } from "#db/client";
import type { PayloadSource } from "./payload";

/** Names an event of a mail. */
export type EventRef = { teamId: string; emailId: string; eventId: string };

/** What the payloads of some events are made of, by event id. Events whose mail is gone are missing. */
export async function readPayloadSources(
  hot: HotSql,
  refs: readonly EventRef[],
): Promise<Map<string, PayloadSource>> {
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
