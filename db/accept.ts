import type { HotSql } from "./client";
import type { DeliveryStatus } from "./schema/deliveries";
import { type Header, PRIORITIES, type Priority, type Tag } from "./schema/emails";
import type { HotTransaction } from "./summary";

export type AcceptedMail = {
  id: string;
  teamId: string;
  apiKeyId: string | null;
  sender: string;
  senderAddress: string;
  senderDomain: string;
  to: string[];
  cc: string[];
  bcc: string[];
  replyTo: string[];
  subject: string;
  tags: Tag[];
  headers: Header[];
  /** Default: normal. */
  priority?: Priority;
  /** Each recipient's copy offers to unsubscribe by a link of their own. */
  listUnsubscribe: boolean;
  /** What each recipient's copy shall tell of. */
  tracksOpens?: boolean;
  tracksClicks?: boolean;
  templateId: string | null;
  templateVersionId: string | null;
  messageId: string;
  status: "queued" | "scheduled";
  /** When a scheduled mail becomes due; null for at once. */
  scheduledAt: Date | null;
  html: string | null;
  text: string | null;
  /** Id of the first event, `email.queued` or `email.scheduled`. */
  eventId: string;
  recipients: AcceptedRecipient[];
  attachments: AcceptedAttachment[];
};

export type AcceptedAttachment = {
  id: string;
  filename: string | null;
  contentType: string;
  contentId: string | null;
  content: Buffer;
};

export type AcceptedRecipient = {
  id: string;
  kind: "to" | "cc" | "bcc";
  address: string;
  domain: string;
  status: DeliveryStatus;
};

export type IdempotencyRecord = {
  teamId: string;
  route: string;
  key: string;
  fingerprint: Uint8Array;
  status: number;
  answer: unknown;
};

/** What one request brings: its mails, and the record that makes its repetition harmless. */
export type Submission = { mails: AcceptedMail[]; idempotency?: IdempotencyRecord };

/** What became of a submission: committed; or nothing of it, for its key was used before, or a twin is just using it. */
export type Written = "written" | "known" | "held";

/**
 * Commits submissions whole in one statement: mails, bodies, recipients, first events and idempotency records. Tells what
 * became of each. It waits for no twin: one under a key that another statement is just writing is `held` and may be tried
 * again, and the others are written without it. No two submissions of one call may share a key. `tx` is the transaction of
 * this client that it shall be part of; by itself it is one.
 *
 * One statement with `unnest` of whole columns: a single text to prepare whatever the number of rows, and one round trip.
 */
export async function insertSubmissions(
  hot: HotSql,
  submissions: Submission[],
  tx: HotSql | HotTransaction = hot,
): Promise<Written[]> {
  const keyed = submissions
    .map((submission, ordinal) => ({ ordinal, record: submission.idempotency }))
    .filter((entry): entry is { ordinal: number; record: IdempotencyRecord } => entry.record !== undefined)
    // One order for all writers: two batches that share keys wait for each other instead of deadlocking.
    .sort((a, b) => (sortName(a.record) < sortName(b.record) ? -1 : 1));
  const mails = submissions.flatMap((submission, ordinal) =>
    submission.mails.map((mail) => ({ ordinal, ...mail })),
  );
  const recipients = mails.flatMap((mail) =>
    mail.recipients.map((recipient, position) => ({ mail, position, ...recipient })),
  );
  const files = mails.flatMap((mail) =>
    mail.attachments.map((attachment, position) => ({ mail, position, ...attachment })),
  );
  const rows = await tx.unsafe<{ ordinal: number; became: Written }[]>(
    INSERT_SUBMISSIONS,
    [
      keyed.map(({ ordinal }) => ordinal),
      keyed.map(({ record }) => record.teamId),
      keyed.map(({ record }) => record.route),
      keyed.map(({ record }) => record.key),
      keyed.map(({ record }) => Buffer.from(record.fingerprint).toString("hex")),
      keyed.map(({ record }) => record.status),
      keyed.map(({ record }) => JSON.stringify(record.answer)),
      mails.map((mail) => mail.ordinal),
      mails.map((mail) => mail.id),
      mails.map((mail) => mail.teamId),
      mails.map((mail) => mail.apiKeyId),
      mails.map((mail) => mail.sender),
      mails.map((mail) => mail.senderAddress),
      mails.map((mail) => mail.senderDomain),
      mails.map((mail) => JSON.stringify(mail.to)),
      mails.map((mail) => JSON.stringify(mail.cc)),
      mails.map((mail) => JSON.stringify(mail.bcc)),
      mails.map((mail) => JSON.stringify(mail.replyTo)),
      mails.map((mail) => mail.subject),
      mails.map((mail) => JSON.stringify(mail.tags)),
      mails.map((mail) => JSON.stringify(mail.headers)),
      mails.map((mail) => mail.templateId),
      mails.map((mail) => mail.templateVersionId),
      mails.map((mail) => mail.messageId),
      mails.map((mail) => mail.status),
      mails.map((mail) => mail.html),
      mails.map((mail) => mail.text),
      mails.map((mail) => mail.eventId),
      recipients.map(({ mail }) => mail.ordinal),
      recipients.map(({ mail }) => mail.teamId),
      recipients.map(({ mail }) => mail.id),
      recipients.map(({ id }) => id),
      recipients.map(({ position }) => position),
      recipients.map(({ kind }) => kind),
      recipients.map(({ address }) => address),
      recipients.map(({ domain }) => domain),
      recipients.map(({ status }) => status),
      mails.map(({ scheduledAt }) => scheduledAt?.toISOString() ?? null),
      recipients.map(({ mail }) => mail.scheduledAt?.toISOString() ?? null),
      files.map(({ mail }) => mail.ordinal),
      files.map(({ mail }) => mail.teamId),
      files.map(({ mail }) => mail.id),
      files.map(({ id }) => id),
      files.map(({ position }) => position),
      files.map(({ filename }) => filename),
      files.map(({ contentType }) => contentType),
      files.map(({ contentId }) => contentId),
      files.map(({ content }) => content.length),
      files.map(({ content }) => content.toString("base64")),
      mails.map(({ listUnsubscribe }) => String(listUnsubscribe)),
      mails.map(({ tracksOpens = false }) => String(tracksOpens)),
      mails.map(({ tracksClicks = false }) => String(tracksClicks)),
      mails.map(({ priority = "normal" }) => priority),
      recipients.map(({ mail }) => PRIORITIES.indexOf(mail.priority ?? "normal")),
    ],
    { prepare: hot.options.prepare },
  );
  const became = new Map(rows.map((row) => [row.ordinal, row.became]));
  return submissions.map(
    ({ idempotency }, ordinal) => became.get(ordinal) ?? (idempotency ? "known" : "written"),
  );
}

/**
 * Commits one mail in one transaction with what `alongside` writes. Dearer than to share a statement, so for what a person does
 * now and then.
 */
export async function insertMailWith(
  hot: HotSql,
  mail: AcceptedMail,
  alongside: (tx: HotTransaction) => Promise<void>,
): Promise<void> {
  await hot.begin(async (tx) => {
    await insertSubmissions(hot, [{ mails: [mail] }], tx);
    await alongside(tx);
  });
}

const sortName = (record: IdempotencyRecord) => `${record.teamId} ${record.route} ${record.key}`;

// An expired record is taken over in place; a live one refuses its submission and thereby all that depends on `fresh`. The
// advisory lock is held until the statement has committed: a twin that gets it sees the record, one that does not waits
// for nobody. Were two keys ever to share its number, one of them would only be tried again.
const INSERT_SUBMISSIONS = `
with keyed as (
  select k.*, pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ', team_id, route, key), 0)) as is_ours
  from unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[])
    with ordinality as k(ordinal, team_id, route, key, fingerprint, status, answer, n)
), kept as (
  insert into idempotency_keys as old (team_id, route, key, fingerprint, status, answer)
  select team_id, route, key, decode(fingerprint, 'hex'), status, answer::jsonb from keyed
  where is_ours order by n
  on conflict (team_id, route, key) do update
    set fingerprint = excluded.fingerprint, status = excluded.status, answer = excluded.answer,
        expires_at = excluded.expires_at
    where old.expires_at <= now()
  returning team_id, route, key
), fresh as (
  select keyed.ordinal from keyed join kept using (team_id, route, key)
), refused as (
  select ordinal from keyed where ordinal not in (select ordinal from fresh)
), mail as (
  select * from unnest($8::int[], $9::uuid[], $10::uuid[], $11::uuid[], $12::text[], $13::text[], $14::text[],
    $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::uuid[], $23::uuid[],
    $24::text[], $25::text[], $26::text[], $27::text[], $28::uuid[], $38::timestamptz[], $50::bool[],
    $51::bool[], $52::bool[], $53::text[])
    as m(ordinal, id, team_id, api_key_id, sender, sender_address, sender_domain, "to", cc, bcc, reply_to, subject,
         tags, headers, template_id, template_version_id, message_id, status, html, text, event_id,
         scheduled_at, list_unsubscribe, tracks_opens, tracks_clicks, priority)
  where ordinal not in (select ordinal from refused)
), email as (
  insert into emails (id, team_id, api_key_id, sender, sender_address, sender_domain, "to", cc, bcc, reply_to, subject,
                      tags, headers, template_id, template_version_id, message_id, status, scheduled_at,
                      list_unsubscribe, tracks_opens, tracks_clicks, priority)
  select id, team_id, api_key_id, sender, sender_address, sender_domain, "to"::jsonb, cc::jsonb, bcc::jsonb,
         reply_to::jsonb, subject, tags::jsonb, headers::jsonb, template_id, template_version_id, message_id, status,
         scheduled_at, list_unsubscribe, tracks_opens, tracks_clicks, priority
  from mail
), body as (
  insert into email_bodies (team_id, email_id, html, text) select team_id, id, html, text from mail
), delivery as (
  insert into deliveries (id, team_id, email_id, position, kind, address, domain, status, due_at, priority)
  select id, team_id, email_id, position, kind, address, domain, status, coalesce(scheduled_at, now()), priority
  from unnest($29::int[], $30::uuid[], $31::uuid[], $32::uuid[], $33::smallint[], $34::text[], $35::text[], $36::text[],
    $37::text[], $39::timestamptz[], $54::smallint[])
    as r(ordinal, team_id, email_id, id, position, kind, address, domain, status, scheduled_at, priority)
  where ordinal not in (select ordinal from refused)
), attachment as (
  insert into attachments (team_id, email_id, id, position, filename, content_type, content_id, size_bytes, content)
  select team_id, email_id, id, position, filename, content_type, content_id, size_bytes, decode(content, 'base64')
  from unnest($40::int[], $41::uuid[], $42::uuid[], $43::uuid[], $44::smallint[], $45::text[], $46::text[], $47::text[],
    $48::int[], $49::text[])
    as f(ordinal, team_id, email_id, id, position, filename, content_type, content_id, size_bytes, content)
  where ordinal not in (select ordinal from refused)
), event as (
  insert into email_events (id, team_id, email_id, type) select event_id, team_id, id, 'email.' || status from mail
)
select ordinal, 'written' as became from fresh
union all select ordinal, 'held' from keyed where not is_ours`;
