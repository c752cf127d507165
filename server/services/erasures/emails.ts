import { ERASED_ADDRESS } from "#db/schema/audit";
import type { DeliveryStatus } from "#db/schema/deliveries";
import type { EventData } from "#db/schema/events";
import { findProviderOfAddress } from "#server/mail/provider-class";
import { firstId, newId } from "#server/platform/ids";
import {
  type HotTransaction,
  type LockedDelivery,
  lockDeliveries,
  refreshEmailStatus,
} from "../emails/status";
import { EMAIL_TABLES, emailIdOf, eraseContent } from "./email-content";
import { TEXT_OF } from "./mentions";
import { addCounts, type Counts, type EraseStep, type ErasureStep, rowsOf, type StepResult } from "./place";
import { hasMention, IS_TEXT_FILE } from "./rows";

/** Emails that one step reads, by recipient and by content. */
const recipientsMax = 100;
const scannedMax = 300;
/** Bytes of the bodies that one step searches: far less than the database reads within its time limit. */
const bytesMax = 32 * 1024 * 1024;

type SizedId = { id: string; bytes: number };

/** Emails to the address, found by the index of recipients: the most important ones, at once. */
export const eraseSent: EraseStep = async (tx, step) => {
  const limit = rowsOf(step, recipientsMax);
  const found = await tx<{ id: string }[]>`
    select distinct email_id as id from deliveries
    where team_id = ${step.teamId} and lower(address) = any(${step.eraser.spellings}::text[])
      and email_id > ${step.after ?? firstId}
    order by email_id limit ${limit}`;
  return eraseAll(tx, step, idsOf(found), limit);
};

/** Emails that had to wait in an earlier step or pass. */
export const eraseWaiting: EraseStep = (tx, step) => {
  const limit = rowsOf(step, recipientsMax);
  const { after, waitingIds } = step;
  const ids = waitingIds.filter((id) => after === null || id > after).slice(0, limit);
  return eraseAll(tx, step, ids, limit);
};

/** All emails in the order of acceptance: those that mention the address. */
export const eraseMentioned: EraseStep = async (tx, step) => {
  const { teamId, after, floor } = step;
  const limit = rowsOf(step, scannedMax);
  const found = await tx<{ id: string }[]>`
    select id from emails where team_id = ${teamId} and id > ${after ?? firstId} and id >= ${floor ?? firstId}
    order by id limit ${limit}`;
  const done = await eraseAll(tx, step, idsOf(found), limit);
  // The first pass reads each email once. Files of emails to the address are deleted already.
  const files = floor === null ? await countUnsearchedFiles(tx, teamId, done.read) : 0;
  return files > 0 ? { ...done, counts: { ...done.counts, [UNSEARCHED]: files } } : done;
};

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

/** In the counts of an erasure: files of emails to others that were not searched for the address. */
export const UNSEARCHED = "files_not_searched";

async function eraseAll(tx: HotTransaction, step: ErasureStep, found: readonly string[], limit: number) {
  const read = takeBytes(await listSizes(tx, step, found), bytesMax >> step.halvings);
  const counts: Counts = {};
  const waiting: string[] = [];
  for (const id of await listConcerned(tx, step, read, { isLocked: true })) {
    const changed = await eraseEmail(tx, step, id);
    if (changed.isWaiting) waiting.push(id);
    addCounts(counts, changed.counts);
  }
  const hasMore = found.length === limit || read.length < found.length;
  return { last: hasMore ? (read.at(-1) ?? null) : null, counts, read, waiting } satisfies StepResult;
}

/** The sizes of what is searched in these emails. They are read without the values. */
const listSizes = (tx: HotTransaction, { teamId }: ErasureStep, ids: readonly string[]) => tx<SizedId[]>`
  select f.id, (coalesce(b.bytes, 0) + coalesce(c.bytes, 0) + coalesce(a.bytes, 0))::float8 as bytes
  from unnest(${ids}::uuid[]) as f(id)
  left join lateral (
    select coalesce(octet_length(html), 0)::bigint + coalesce(octet_length(text), 0) + coalesce(octet_length(made_text), 0)
      + coalesce(octet_length(raw), 0) as bytes
    from email_bodies where team_id = ${teamId} and email_id = f.id) b on true
  left join lateral (
    select octet_length(raw)::bigint as bytes from captured_messages where team_id = ${teamId} and email_id = f.id) c on true
  left join lateral (
    select sum(size_bytes) as bytes from attachments x
    where team_id = ${teamId} and email_id = f.id and ${tx.unsafe(IS_TEXT_FILE("x"))}) a on true
  order by f.id`;

/** The first emails up to this sum of bytes, at least one. */
export function takeBytes(sized: readonly SizedId[], maxBytes: number): string[] {
  let sum = 0;
  const end = sized.findIndex(({ bytes }, n) => {
    sum += bytes;
    return n > 0 && sum > maxBytes;
  });
  return idsOf(sized.slice(0, end === -1 ? sized.length : end));
}

/** Those of the emails that are to the address or contain it in one of their tables. */
export async function listConcerned(
  sql: Pick<HotTransaction, "unsafe">,
  { teamId, eraser }: Pick<ErasureStep, "teamId" | "eraser">,
  ids: string[],
  { isLocked = false } = {},
): Promise<string[]> {
  const inRows = EMAIL_TABLES.map(
    (name) =>
      `exists (select from ${name} c where c.team_id = e.team_id and c.${emailIdOf(name)} = e.id and ${hasMention(name, "$3")})`,
  );
  const found = await sql.unsafe<{ id: string }[]>(
    `select e.id from emails e where e.team_id = $1 and e.id = any($2::uuid[]) and (${inRows.join(" or ")})
     order by e.id ${isLocked ? "for update of e" : ""}`,
    [teamId, ids, eraser.search],
  );
  return idsOf(found);
}

const WAITING: ReadonlySet<DeliveryStatus> = new Set(["scheduled", "queued", "sending"]);

/**
 * Cancels what still waits for the address, and erases the email once nothing of it waits or is being sent:
 * until then, its other recipients need the content, and all copies of an email have the same bytes.
 */
async function eraseEmail(
  tx: HotTransaction,
  step: ErasureStep,
  emailId: string,
): Promise<{ counts: Counts; isWaiting: boolean }> {
  const { teamId, eraser } = step;
  const recipients = await lockDeliveries(tx<LockedDelivery[]>, { teamId, emailId });
  const own = recipients.filter(({ address }) => eraser.isAddress(address));
  const canceled = own.filter(({ status }) => status === "scheduled" || status === "queued");
  await cancel(tx, { teamId, emailId }, canceled);
  const counts: Counts = canceled.length > 0 ? { canceled: canceled.length } : {};
  const isWaiting = recipients.some((each) => WAITING.has(each.status) && !canceled.includes(each));
  if (isWaiting) return { counts, isWaiting };
  return { counts: { ...counts, ...(await eraseContent(tx, step, emailId, idsOf(own))) }, isWaiting };
}

async function cancel(
  tx: HotTransaction,
  { teamId, emailId }: { teamId: string; emailId: string },
  waiting: readonly LockedDelivery[],
): Promise<void> {
  if (waiting.length === 0) return;
  const reason = "The recipient's data was erased before the email was sent.";
  await tx`
    update deliveries set status = 'canceled', wait_rule = null, due_at = now(), updated_at = now()
    where team_id = ${teamId} and email_id = ${emailId} and id = any(${idsOf(waiting)}::uuid[])`;
  for (const { id, address } of waiting) {
    const data: EventData = { reason, provider: findProviderOfAddress(address) ?? undefined };
    await tx`
      insert into email_events (id, team_id, email_id, delivery_id, type, recipient, data)
      values (${newId()}, ${teamId}, ${emailId}, ${id}, 'email.canceled', ${ERASED_ADDRESS},
        ${JSON.stringify(data)}::text::jsonb)`;
  }
  await refreshEmailStatus(tx, [{ teamId, id: emailId }]);
}

/**
 * How many files of these emails are not searched. A message that a program submitted with files counts as
 * one.
 */
async function countUnsearchedFiles(
  tx: HotTransaction,
  teamId: string,
  emailIds: readonly string[],
): Promise<number> {
  const [row] = await tx.unsafe<{ count: number }[]>(
    `select (
       (select count(*) from attachments f where team_id = $1 and email_id = any($2::uuid[]) and not ${IS_TEXT_FILE("f")})
       + (select count(*) from email_bodies where team_id = $1 and email_id = any($2::uuid[]) and raw is not null
          and strpos(${TEXT_OF("raw")}, 'filename') > 0))::int as count`,
    [teamId, [...emailIds]],
  );
  return row?.count ?? 0;
}
