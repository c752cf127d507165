import { ERASED_ADDRESS } from "#db/schema/audit";
import type { EventData } from "#db/schema/events";
import { findProviderOfAddress } from "#server/mail/provider-class";
import type { HotTransaction } from "../emails/status";
import { HAS_MENTION } from "./mentions";
import type { Counts, ErasureStep } from "./place";
import { columnsOf, eraseRow, hasMention, LOST_LEASE, type Row, tableOf, writeRow } from "./rows";
import { TABLES } from "./tables";

/** The tables of an email: its row first. */
export const EMAIL_TABLES = Object.keys(TABLES).filter((name) => tableOf(name).own !== undefined);

/** The column with the id of the email. */
export const emailIdOf = (name: string): string => (name === "emails" ? "id" : "email_id");

/**
 * Erases the address in an email. The content of an email to it (`deliveryIds`) is about this person even if
 * others received it: text, files, subject, headers, tags, replies, and visits are deleted. Its other
 * recipients with their results, its status and all times stay. In an email to others, only the address is
 * replaced. Bytes of a message in which it cannot be replaced are deleted: the texts remain. Returns the
 * changed rows by table.
 */
export async function eraseContent(
  tx: HotTransaction,
  step: ErasureStep,
  emailId: string,
  deliveryIds: string[],
): Promise<Counts> {
  const { teamId } = step;
  const isRecipient = deliveryIds.length > 0;
  const counts: Counts = {};
  const change = async (name: string, statement: string, condition: string, ...given: string[][]) => {
    const where = `team_id = $1 and ${emailIdOf(name)} = $2 and ${condition}`;
    const { count } = await tx.unsafe(`${statement} where ${where}`, [teamId, emailId, ...given]);
    counts[name] = Math.max(counts[name] ?? 0, count);
  };
  for (const name of isRecipient ? EMAIL_TABLES : []) {
    const { own } = tableOf(name);
    if (name === "deliveries")
      await change(name, `update ${name} set ${own}`, "id = any($3::uuid[])", deliveryIds);
    else if (own)
      await change(name, own === "deleted" ? `delete from ${name}` : `update ${name} set ${own}`, "true");
  }
  counts.email_events = await eraseOwnEvents(tx, step, emailId, deliveryIds);
  const changed = new Set<string>();
  for (const name of EMAIL_TABLES) {
    const rows = await eraseRows(tx, step, name, emailId);
    counts[name] = name === "emails" && isRecipient ? 1 : (counts[name] ?? 0) + rows.length;
    for (const column of rows.flat()) changed.add(`${name}.${column}`);
  }
  // The bytes repeat the email, its texts and its files, but not the key of the request.
  changed.delete("email_bodies.idempotency_key");
  if ([...changed].some((each) => /^(emails|attachments|email_bodies|captured_messages)[.]/.test(each))) {
    await change("email_bodies", "update email_bodies set raw = null", "raw is not null");
    await change("captured_messages", "delete from captured_messages", "true");
  }
  // Another address can contain this one: then nothing was changed, and the bodies of its events stay.
  if (counts.emails || counts.email_events)
    counts.webhook_deliveries = await eraseWebhooks(tx, step, emailId, isRecipient);
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** Replaces the address in the rows of an email in one table. Returns the changed columns of each row. */
async function eraseRows(
  tx: HotTransaction,
  { teamId, eraser }: ErasureStep,
  name: string,
  emailId: string,
): Promise<string[][]> {
  const { key, isDeleted } = tableOf(name);
  const found = await tx.unsafe<Row[]>(
    `select ${[...key, ...columnsOf(name, "$3")].join(", ")} from ${name} c
     where team_id = $1 and ${emailIdOf(name)} = $2 and ${hasMention(name, "$3")} order by ${key.join(", ")}`,
    [teamId, emailId, eraser.search],
  );
  const changed: string[][] = [];
  for (const row of found) {
    const changes = eraseRow(eraser, name, row);
    if (Object.keys(changes).length === 0) continue;
    await writeRow(tx, name, { teamId, row }, isDeleted ? null : changes);
    changed.push(Object.keys(changes));
  }
  return changed;
}

/** Events of the recipient keep what statistics need. */
async function eraseOwnEvents(
  tx: HotTransaction,
  { teamId, eraser }: ErasureStep,
  emailId: string,
  deliveryIds: string[],
): Promise<number> {
  const events = await tx<{ id: string; recipient: string | null; data: EventData }[]>`
    select id, recipient, data from email_events
    where team_id = ${teamId} and email_id = ${emailId}
      and (delivery_id = any(${deliveryIds}::uuid[]) or lower(recipient) = any(${eraser.spellings}::text[]))
    order by id`;
  for (const { id, recipient, data } of events)
    await tx`
      update email_events set recipient = ${ERASED_ADDRESS}, data = ${JSON.stringify(figuresOf(data, recipient))}::text::jsonb
      where team_id = ${teamId} and email_id = ${emailId} and id = ${id}`;
  return events.length;
}

/**
 * The codes and figures of an event, without texts, hosts, links, addresses and programs of its recipient.
 * The large provider of the recipient stays, so that metrics count a later change of the status for the same
 * one.
 */
function figuresOf(
  { attempt, class: about, replyRule, rule, policy, suppressedBy, reply, visit, provider: known }: EventData,
  recipient: string | null,
): EventData {
  return {
    provider: known ?? (recipient === null ? undefined : (findProviderOfAddress(recipient) ?? undefined)),
    attempt,
    class: about,
    replyRule,
    rule,
    policy,
    suppressedBy,
    reply: reply && { code: reply.code, enhanced: reply.enhanced, text: "" },
    visit: visit && { by: visit.by, name: null, address: null, agent: null },
  };
}

/**
 * The stored bodies of the email's webhook events are deleted: they are rendered again from what is left. An
 * attempt in progress loses its lease, so that neither its body nor the response is stored, and is repeated.
 */
async function eraseWebhooks(
  tx: HotTransaction,
  { teamId, eraser }: ErasureStep,
  emailId: string,
  isRecipient: boolean,
): Promise<number> {
  const locked = await tx<{ id: string; hasBody: boolean }[]>`
    select id, payload is not null as "hasBody" from webhook_deliveries
    where team_id = ${teamId} and email_id = ${emailId} order by id for update`;
  const ids = locked.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await tx`
    update webhook_deliveries set payload = null, lease_token = ${tx.unsafe(LOST_LEASE)}
    where team_id = ${teamId} and id = any(${ids}::uuid[]) and (payload is not null or lease_token is not null)`;
  // An endpoint can respond with what it received.
  await tx.unsafe(
    `update webhook_attempts set response = null
     where team_id = $1 and delivery_id = any($2::uuid[]) and response is not null
       and ($3::boolean or ${HAS_MENTION("lower(response)", "$4")})`,
    [teamId, ids, isRecipient, eraser.search],
  );
  return locked.filter(({ hasBody }) => hasBody).length;
}
