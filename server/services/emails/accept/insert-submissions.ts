import type { HotSql } from "#db/client";
import { emails as emailsTable, PRIORITIES } from "#db/schema/emails";
import { type Columns, columnsOf, namesOf, writeStatement } from "#db/statement";
import type { StoredFile } from "#server/shared/wire/attachment";
import type { Delivery, EmailSummary } from "#server/shared/wire/email";
import type { HotTransaction } from "../status";

/** The columns of `emails` that have a default: priority `normal`, no tracking, no trace and no list. */
type Defaulted = "priority" | "tracksOpens" | "tracksClicks" | "trackingHost" | "traceparent" | "listName";

export type AcceptedEmail = Omit<EmailSummary, Defaulted | "status" | "engagement" | "createdAt"> &
  Partial<Pick<EmailSummary, Defaulted>> & {
    status: "queued" | "scheduled";
    html: string | null;
    text: string | null;
    /** The whole message, submitted over SMTP; then `html`, `text` and `attachments` only display it. */
    raw?: Uint8Array;
    /** The key with which a program sent it, for display. */
    idempotencyKey?: string;
    /** Id of the first event, `email.queued` or `email.scheduled`. */
    eventId: string;
    recipients: AcceptedRecipient[];
    attachments: AcceptedAttachment[];
  };

export type AcceptedAttachment = Pick<StoredFile, "id" | "filename" | "contentType" | "contentId"> & {
  content: Buffer;
};

export type AcceptedRecipient = Pick<Delivery, "id" | "kind" | "address" | "domain" | "status">;

export type IdempotencyRecord = {
  teamId: string;
  route: string;
  key: string;
  fingerprint: Uint8Array;
  status: number;
  answer: unknown;
};

/** The content of one request: its emails, and the record that makes repeating the request harmless. */
export type Submission = { emails: AcceptedEmail[]; idempotency?: IdempotencyRecord };

/**
 * Result: committed; not written because its key was used before (`known`) or is in use by another request
 * (`held`).
 */
export type Written = "written" | "known" | "held";

/**
 * Commits whole submissions in one statement: emails, bodies, recipients, first events and idempotency
 * records. Returns one result per submission. The statement never waits for a concurrent request with the
 * same key: that submission is `held` and can be retried, and the others are written. No two submissions of
 * one call may share a key. `tx` is a transaction of this client to write in; by default the statement is its
 * own transaction.
 *
 * One statement with `unnest` of whole columns: the same text to prepare for any number of rows, and one
 * round trip.
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
  const emails = submissions.flatMap((submission, ordinal) =>
    submission.emails.map((email) => ({
      ordinal,
      tracksOpens: false,
      tracksClicks: false,
      priority: "normal" as const,
      listName: null,
      ...email,
    })),
  );
  const recipients = emails.flatMap(({ id: emailId, teamId, ordinal, scheduledAt, priority, recipients }) =>
    recipients.map((recipient, position) => ({
      emailId,
      teamId,
      ordinal,
      scheduledAt,
      position,
      rank: PRIORITIES.indexOf(priority),
      ...recipient,
    })),
  );
  const files = emails.flatMap(({ id: emailId, teamId, ordinal, attachments }) =>
    attachments.map((file, position) => ({
      emailId,
      teamId,
      ordinal,
      position,
      sizeBytes: file.content.length,
      ...file,
    })),
  );
  const rows = await insertAll(tx, { keyed, emails, recipients, files });
  const results = new Map(rows.map((row) => [row.ordinal, row.became]));
  return submissions.map(
    ({ idempotency }, ordinal) => results.get(ordinal) ?? (idempotency ? "known" : "written"),
  );
}

/** Waits until no concurrent transaction uses the key. Until this one ends, others get `held`. */
export async function lockIdempotencyKey(
  tx: HotTransaction,
  { teamId, route, key }: IdempotencyRecord,
): Promise<void> {
  await tx`select pg_advisory_xact_lock(${tx.unsafe(KEY_LOCK)}) from (
    select ${teamId}::uuid as team_id, ${route}::text as route, ${key}::text as key) as k`;
}

/** SQL: the number of the advisory lock of a key. */
const KEY_LOCK = "hashtextextended(concat_ws(' ', team_id, route, key), 0)";

const sortName = (record: IdempotencyRecord) => `${record.teamId} ${record.route} ${record.key}`;

type KeyedRow = { ordinal: number; record: IdempotencyRecord };
type EmailRow = AcceptedEmail & { ordinal: number };
type PartRow = { emailId: string; teamId: string; ordinal: number; position: number };
type RecipientRow = AcceptedRecipient & PartRow & { scheduledAt: Date | null; rank: number };
type FileRow = AcceptedAttachment & PartRow & { sizeBytes: number };

const KEYED: Columns<KeyedRow> = {
  n: ["int", (_, index) => index],
  ordinal: ["int", "ordinal"],
  team_id: ["uuid", ({ record }) => record.teamId],
  route: ["text", ({ record }) => record.route],
  key: ["text", ({ record }) => record.key],
  fingerprint: ["bytea", ({ record }) => record.fingerprint],
  status: ["int", ({ record }) => record.status],
  answer: ["jsonb", ({ record }) => record.answer],
};

/** All columns of `emails`, without those that an accepted email does not have yet. */
const { engagement: _, created_at: __, ...EMAIL } = columnsOf<EmailRow>(emailsTable);

/** The values of an email that the statement needs and that are not columns of `emails`. */
const BESIDE_EMAIL: Columns<EmailRow> = {
  ordinal: ["int", "ordinal"],
  html: ["text", "html"],
  text: ["text", "text"],
  raw: ["bytea", "raw"],
  idempotency_key: ["text", "idempotencyKey"],
  event_id: ["uuid", "eventId"],
};

const DELIVERY: Columns<RecipientRow> = {
  id: ["uuid", "id"],
  team_id: ["uuid", "teamId"],
  email_id: ["uuid", "emailId"],
  position: ["smallint", "position"],
  kind: ["text", "kind"],
  address: ["text", "address"],
  domain: ["text", "domain"],
  status: ["text", "status"],
  priority: ["smallint", "rank"],
};

const BESIDE_DELIVERY: Columns<RecipientRow> = {
  ordinal: ["int", "ordinal"],
  scheduled_at: ["timestamptz", "scheduledAt"],
};

const ATTACHMENT: Columns<FileRow> = {
  id: ["uuid", "id"],
  team_id: ["uuid", "teamId"],
  email_id: ["uuid", "emailId"],
  position: ["smallint", "position"],
  filename: ["text", "filename"],
  content_type: ["text", "contentType"],
  content_id: ["text", "contentId"],
  size_bytes: ["int", "sizeBytes"],
  content: ["bytea", "content"],
};

const BESIDE_ATTACHMENT: Columns<FileRow> = { ordinal: ["int", "ordinal"] };

type Input = { keyed: KeyedRow[]; emails: EmailRow[]; recipients: RecipientRow[]; files: FileRow[] };

// An expired record is overwritten in place. A live record rejects its submission and everything that depends
// on `fresh`. The advisory lock is held until the statement has committed: a concurrent request that gets the
// lock sees the record, and one that does not get it never waits. If two keys hash to the same number, one of
// them is only retried. The trigger `email_events_announced` (`db/functions/outbox.sql`) writes the event
// deliveries to webhooks.
const insertAll = writeStatement<Input, { ordinal: number; became: Written }>(
  ({ rows }) => `
with keyed as (
  select k.*, pg_try_advisory_xact_lock(${KEY_LOCK}) as is_ours
  from ${rows("keyed", KEYED)} as k
), kept as (
  insert into idempotency_keys as old (team_id, route, key, fingerprint, status, answer)
  select team_id, route, key, fingerprint, status, answer from keyed
  where is_ours order by n
  on conflict (team_id, route, key) do update
    set fingerprint = excluded.fingerprint, status = excluded.status, answer = excluded.answer,
        expires_at = excluded.expires_at
    where old.expires_at <= now()
  returning team_id, route, key
), fresh as (
  select keyed.ordinal from keyed join kept using (team_id, route, key)
), skipped as (
  select ordinal from keyed where ordinal not in (select ordinal from fresh)
), mail as (
  select * from ${rows("emails", { ...EMAIL, ...BESIDE_EMAIL })} as m
  where ordinal not in (select ordinal from skipped)
), email as (
  insert into emails (${namesOf(EMAIL)}) select ${namesOf(EMAIL)} from mail
), body as (
  insert into email_bodies (team_id, email_id, html, text, raw, idempotency_key)
  select team_id, id, html, text, raw, idempotency_key from mail
), delivery as (
  insert into deliveries (${namesOf(DELIVERY)}, due_at)
  select ${namesOf(DELIVERY)}, coalesce(scheduled_at, now())
  from ${rows("recipients", { ...DELIVERY, ...BESIDE_DELIVERY })} as r
  where ordinal not in (select ordinal from skipped)
), attachment as (
  insert into attachments (${namesOf(ATTACHMENT)})
  select ${namesOf(ATTACHMENT)} from ${rows("files", { ...ATTACHMENT, ...BESIDE_ATTACHMENT })} as f
  where ordinal not in (select ordinal from skipped)
), event as (
  insert into email_events (id, team_id, email_id, type) select event_id, team_id, id, 'email.' || status from mail
)
select ordinal, 'written' as became from fresh
union all select ordinal, 'held' from keyed where not is_ours`,
);
