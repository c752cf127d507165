import type { HotSql } from "#db/client";
import type { SuppressionOrigin } from "#db/schema/suppressions";
import type { UnknownPolicy } from "#db/schema/teams";
import type { FilePart } from "#server/mail/mime/entity";
import { shortHtmlChars } from "#server/mail/mime/html-text";
import type { TlsRequirement } from "#server/mail/transport/transport";
import { ownReturnPathAt } from "#server/services/domains/return-path";
import type { MessageSource } from "#server/services/emails/outgoing";
import { isBlocking } from "#server/services/suppressions/blocking";
import { listedForm } from "#server/services/suppressions/erased";
import { foldAddress } from "#server/shared/text/fold-address";
import type { EmailSummary } from "#server/shared/wire/email";
import type { Suppression } from "#server/shared/wire/suppression";
import type { Claim } from "../queue/claims";

/**
 * Bodies up to this size are read with the batch. Larger ones are read right before their attempt, to bound
 * memory.
 */
const bodyInBatchBytesMax = 128 * 1024;

/** The copy of each recipient has its own unsubscribe link and tracking links, if the email has them. */
export type StoredMessage = Omit<MessageSource, "files" | "text"> &
  Pick<EmailSummary, "tracksOpens" | "tracksClicks" | "trackingHost" | "traceparent" | "listName"> & {
    /** Null if it is generated from the HTML. With `needsText` that takes long and is not done yet. */
    text: string | null;
    needsText: boolean;
    policy: UnknownPolicy;
    /**
     * The sender's domain; null if it is no longer the team's or no longer linked to the API key that sent
     * the email.
     */
    domainId: string | null;
    /** What the sender's domain requires of connections. */
    tls: TlsRequirement;
    /** The domain of the sender's own return path, for direct delivery; null if it had none at that time. */
    ownReturnPath: string | null;
    /** Its domain or team has a daily cap. */
    isCapped: boolean;
    /** The email has a single recipient. */
    isAlone: boolean;
    /** If false, `withBody` must read html, text and files. */
    hasBody: boolean;
    /** Suppressed recipients among the claimed ones: delivery id to origin; null if there are none. */
    suppressed: Record<string, SuppressionOrigin> | null;
  };

/**
 * Reads the emails of these claims, by email id, with their suppressed recipients. One statement reads both:
 * this saves a round trip, and if the suppression list cannot be read, no attempt starts.
 */
export async function listStoredMessages(hot: HotSql, claims: Claim[]): Promise<Map<string, StoredMessage>> {
  type Listed = Pick<Suppression, "origin" | "listsOnly" | "lists">;
  const rows = await hot<(StoredMessage & { listed: Record<string, Listed> | null })[]>`
    with mail as materialized (
      select e.team_id, e.id, e.api_key_id, e.sender_domain, e.sender, e.sender_address, e."to", e.cc, e.reply_to,
        e.subject, e.headers, e.list_unsubscribe, e.list_name, e.tracks_opens, e.tracks_clicks, e.tracking_host, e.message_id, e.traceparent,
        -- The date of a scheduled email is its scheduled time, which does not change after the first attempt.
        greatest(e.created_at, e.scheduled_at) as created_at,
        c.listed,
        jsonb_array_length(e."to") + jsonb_array_length(e.cc) + jsonb_array_length(e.bcc) = 1 as is_alone
      from (
        select q.team_id, q.email_id, jsonb_object_agg(q.id,
          jsonb_build_object('origin', l.origin, 'listsOnly', l.lists_only, 'lists', l.lists)) filter (where l.origin is not null) as listed
        from unnest(${claims.map(({ id }) => id)}::uuid[], ${claims.map(({ teamId }) => teamId)}::uuid[],
                    ${claims.map(({ emailId }) => emailId)}::uuid[],
                    ${claims.map(({ address }) => foldAddress(address))}::text[]) as q(id, team_id, email_id, address)
        cross join lateral (values (q.address), (${hot.unsafe(listedForm("q.team_id", "q.address"))})) as form(address)
        left join suppressions l on l.team_id = q.team_id and l.address = form.address
        group by q.team_id, q.email_id
      ) c
      join emails e on e.team_id = c.team_id and e.id = c.email_id
    ),
    -- Evaluated once for each API key and domain, because many emails share them.
    linked as materialized (
      select w.team_id, w.api_key_id, w.sender_domain, d.id as domain_id, d.tls,
        d.daily_cap is not null or d.warm_up_from is not null as is_capped,
        d.name, d.return_path_label, d.return_path_periods
      from (select distinct team_id, api_key_id, sender_domain from mail) w
      join domains d on d.team_id = w.team_id and d.name = w.sender_domain
      where (w.api_key_id is null or exists (
        select from api_keys k where k.team_id = w.team_id and k.id = w.api_key_id and (k.all_domains or exists (
          select from api_key_domains l where l.api_key_id = k.id and l.domain_id = d.id))))
        -- A domain that is no longer verified still sends accepted email, unless another team has verified it.
        and (d.status = 'verified' or not exists (
          select from domains o where o.name = d.name and o.status = 'verified' and o.name <> 'backstamp.test'))
    )
    select e.team_id as "teamId", e.id, e.sender, e.sender_address as "senderAddress",
      e.sender_domain as "senderDomain", e."to", e.cc,
      e.reply_to as "replyTo", e.subject, e.headers, e.list_unsubscribe as "listUnsubscribe", e.list_name as "listName",
      e.tracks_opens as "tracksOpens", e.tracks_clicks as "tracksClicks", e.tracking_host as "trackingHost",
      e.message_id as "messageId", e.traceparent, e.created_at as "createdAt",
      t.unknown_policy as policy, s.small as "hasBody", e.listed, e.is_alone as "isAlone",
      k.domain_id as "domainId", ${hot.unsafe(ownReturnPathAt("k", "e.created_at"))} as "ownReturnPath",
      coalesce(k.tls, 'opportunistic') as tls,
      coalesce(k.is_capped, false) or t.daily_cap is not null as "isCapped",
      b.text is null and b.made_text is null and coalesce(octet_length(b.html), 0) > ${shortHtmlChars} as "needsText",
      case when s.small then b.html end as html, case when s.small then coalesce(b.text, b.made_text) end as text,
      case when s.small then b.raw end as raw
    from mail e
    -- With a plain join, a plan for few rows reads all bodies of the team for each email.
    cross join lateral (
      select b.html, b.text, b.made_text, b.raw from email_bodies b where b.team_id = e.team_id and b.email_id = e.id offset 0
    ) b
    join teams t on t.id = e.team_id
    left join linked k on k.team_id = e.team_id and k.sender_domain = e.sender_domain
      and k.api_key_id is not distinct from e.api_key_id
    cross join lateral (
      select coalesce(octet_length(b.html), 0) + coalesce(octet_length(b.text), 0)
          + coalesce(octet_length(b.raw), 0) <= ${bodyInBatchBytesMax}
        -- A message submitted over SMTP contains its files.
        and (b.raw is not null
          or not exists (select from attachments a where a.team_id = e.team_id and a.email_id = e.id)) as small
      -- Evaluated once, not in each column.
      offset 0
    ) s`;
  return new Map(
    rows.map(({ listed, ...row }) => {
      const blocking = Object.entries(listed ?? {}).filter(([, entry]) => isBlocking(entry, row));
      const suppressed = Object.fromEntries(blocking.map(([id, { origin }]) => [id, origin]));
      return [row.id, { ...row, suppressed: blocking.length > 0 ? suppressed : null }];
    }),
  );
}

/**
 * The message with its body and files. Reads them if the batch did not. The files of a message that was
 * submitted over SMTP are in its own bytes and are not read.
 */
export async function withBody(
  hot: HotSql,
  message: StoredMessage,
): Promise<StoredMessage & Pick<MessageSource, "files">> {
  if (message.hasBody) return { ...message, files: [] };
  const { teamId, id } = message;
  const [[body], files] = await Promise.all([
    hot<Pick<StoredMessage, "html" | "text" | "raw">[]>`
      select html, coalesce(text, made_text) as text, raw from email_bodies where team_id = ${teamId} and email_id = ${id}`,
    hot<FilePart[]>`
      select filename, content_type as "contentType", content_id as "contentId", content
      from attachments where team_id = ${teamId} and email_id = ${id}
        and not exists (select from email_bodies where team_id = ${teamId} and email_id = ${id} and raw is not null)
      order by position`,
  ]);
  return { ...message, ...body, files: [...files], hasBody: true };
}
