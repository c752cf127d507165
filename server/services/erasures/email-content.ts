import { ERASED_ADDRESS, ERASED_DOMAIN } from "#db/schema/audit";
import type { Header, Tag } from "#db/schema/emails";
import type { EventData } from "#db/schema/events";
import { findProviderOfAddress } from "#server/mail/provider-class";
import type { HotTransaction } from "../emails/status";
import { HAS_MENTION, TEXT_OF } from "./address-pattern";
import { eraseFiles } from "./files";
import type { ErasureStep } from "./place";

/** The texts of an email that its row contains. */
export type EmailRow = {
  id: string;
  sender: string;
  senderAddress: string;
  to: string[];
  cc: string[];
  bcc: string[];
  replyTo: string[];
  subject: string;
  tags: Tag[];
  headers: Header[];
  messageId: string;
};

type Counts = Record<string, number>;

/** The subject of an email whose content was erased. */
const ERASED_SUBJECT = "(erased)";

/**
 * Erases the content of an email to the address, which is about this person even if others received it: text,
 * files, subject, headers, tags, replies, and visits. Its other recipients with their results, its status and
 * all times stay.
 */
export async function eraseContent(
  tx: HotTransaction,
  step: ErasureStep,
  email: EmailRow,
  own: readonly string[],
): Promise<Counts> {
  const key = { teamId: step.teamId, emailId: email.id };
  const bodies =
    await tx`delete from email_bodies where team_id = ${key.teamId} and email_id = ${key.emailId}`;
  const files = await tx`delete from attachments where team_id = ${key.teamId} and email_id = ${key.emailId}`;
  const captured = await tx`
    delete from captured_messages where team_id = ${key.teamId} and email_id = ${key.emailId}`;
  await writeEmail(tx, step, { ...email, subject: ERASED_SUBJECT, tags: [], headers: [] });
  const { count: deliveries } = await tx`
    update deliveries set address = ${ERASED_ADDRESS}, domain = ${ERASED_DOMAIN}, last_text = null, last_reason = null,
      last_host = null, provider_id = null
    where team_id = ${key.teamId} and email_id = ${key.emailId} and id = any(${own as string[]}::uuid[])`;
  const events = await eraseEvents(tx, step, email.id, own);
  await eraseReplies(tx, step, email.id);
  const webhooks = await eraseWebhooks(tx, step, email.id, { isRecipient: true });
  return counted({
    emails: 1,
    email_bodies: bodies.count,
    attachments: files.count,
    captured_messages: captured.count,
    deliveries,
    email_events: events,
    webhook_deliveries: webhooks,
  });
}

/**
 * Replaces the address in an email to others. Bytes of a message in which it cannot be replaced are deleted:
 * the texts remain. Files other than texts are not searched.
 */
export async function eraseMentions(tx: HotTransaction, step: ErasureStep, email: EmailRow): Promise<Counts> {
  const { teamId, eraser } = step;
  const isInRow = isChanged(eraser.eraseValue(email), email);
  if (isInRow) await writeEmail(tx, step, email);
  const [body] = await tx<Body[]>`
    select html, text, made_text as "madeText", idempotency_key as "idempotencyKey", ${bytesWith(tx, "raw", step)} as raw from email_bodies
    where team_id = ${teamId} and email_id = ${email.id}`;
  const texts = body && { html: body.html, text: body.text, madeText: body.madeText };
  const key = body?.idempotencyKey ?? null;
  const erasedKey = key && eraser.eraseText(key);
  const erased = texts && (eraser.eraseValue(texts) as typeof texts);
  const files = await eraseFiles(tx, step, email.id);
  const isInTexts = isInRow || isChanged(erased, texts) || files > 0;
  const isInBytes = isInTexts || hasBytes(step, body?.raw ?? null);
  const isInBody = isInBytes || erasedKey !== key;
  if (erased && isInBody)
    await tx`
      update email_bodies set html = ${erased.html}, text = ${erased.text}, made_text = ${erased.madeText},
        idempotency_key = ${erasedKey}, raw = case when ${isInBytes} then null else raw end
      where team_id = ${teamId} and email_id = ${email.id}`;
  const [copy] = await tx<{ raw: Uint8Array | null }[]>`
    select ${bytesWith(tx, "raw", step)} as raw from captured_messages
    where team_id = ${teamId} and email_id = ${email.id}`;
  const isCaptured = copy !== undefined && (isInTexts || hasBytes(step, copy.raw));
  if (isCaptured)
    await tx`delete from captured_messages where team_id = ${teamId} and email_id = ${email.id}`;
  const events = await eraseEvents(tx, step, email.id, []);
  await eraseReplies(tx, step, email.id);
  // Another address can contain this one: then nothing was changed, and the bodies of its events stay.
  const isInEvents = isInRow || events > 0;
  const webhooks = isInEvents ? await eraseWebhooks(tx, step, email.id, { isRecipient: false }) : 0;
  return counted({
    emails: isInRow ? 1 : 0,
    email_bodies: body && isInBody ? 1 : 0,
    attachments: files,
    captured_messages: isCaptured ? 1 : 0,
    email_events: events,
    webhook_deliveries: webhooks,
  });
}

type Body = Record<"html" | "text" | "madeText" | "idempotencyKey", string | null> & {
  raw: Uint8Array | null;
};

const isChanged = (erased: unknown, value: unknown): boolean =>
  JSON.stringify(erased) !== JSON.stringify(value);

/** SQL: the bytes if they may contain the address, so that others are not read. */
const bytesWith = (tx: HotTransaction, column: string, { eraser }: ErasureStep) => tx`
  case when strpos(${tx.unsafe(TEXT_OF(column))}, ${eraser.search[0]}) > 0 then ${tx(column)} end`;

const hasBytes = ({ eraser }: ErasureStep, raw: Uint8Array | null): boolean =>
  raw !== null && eraser.hasMention(Buffer.from(raw).toString("utf8"));

async function writeEmail(
  tx: HotTransaction,
  { teamId, eraser }: ErasureStep,
  email: EmailRow,
): Promise<void> {
  const json = (value: unknown) => tx`${JSON.stringify(eraser.eraseValue(value))}::text::jsonb`;
  await tx`
    update emails set sender = ${eraser.eraseText(email.sender)}, sender_address = ${eraser.eraseText(email.senderAddress)},
      "to" = ${json(email.to)}, cc = ${json(email.cc)}, bcc = ${json(email.bcc)}, reply_to = ${json(email.replyTo)},
      subject = ${eraser.eraseText(email.subject)}, tags = ${json(email.tags)}, headers = ${json(email.headers)},
      message_id = ${eraser.eraseText(email.messageId)}
    where team_id = ${teamId} and id = ${email.id}`;
}

/** Events of the recipient keep what statistics need. In others, the address is replaced. */
async function eraseEvents(
  tx: HotTransaction,
  { teamId, eraser }: ErasureStep,
  emailId: string,
  own: readonly string[],
): Promise<number> {
  const events = await tx.unsafe<
    { id: string; deliveryId: string | null; recipient: string | null; data: EventData }[]
  >(
    `select id, delivery_id as "deliveryId", recipient, data from email_events e
     where e.team_id = $1 and e.email_id = $2 and (e.delivery_id = any($3::uuid[])
       or ${HAS_MENTION("lower(concat_ws(' ', e.recipient, e.data::text))", "$4")}) order by id`,
    [teamId, emailId, own as string[], eraser.search],
  );
  let count = 0;
  for (const { id, deliveryId, recipient, data } of events) {
    const isOwn =
      (deliveryId !== null && own.includes(deliveryId)) ||
      (recipient !== null && eraser.isAddress(recipient));
    const left = isOwn ? figuresOf(data, recipient) : eraser.eraseValue(data);
    if (!isOwn && !isChanged(left, data)) continue;
    count++;
    await tx`
      update email_events set recipient = ${isOwn ? ERASED_ADDRESS : recipient}, data = ${JSON.stringify(left)}::text::jsonb
      where team_id = ${teamId} and email_id = ${emailId} and id = ${id}`;
  }
  return count;
}

/**
 * The codes and figures of an event, without texts, hosts, links, addresses and programs of its recipient.
 * The large provider of the recipient stays, so that metrics count a later change of the status for the same
 * one.
 */
function figuresOf(
  { attempt, class: about, rule, policy, suppressedBy, reply, visit, provider: known }: EventData,
  recipient: string | null,
): EventData {
  const provider = known ?? (recipient === null ? null : findProviderOfAddress(recipient));
  return {
    ...(provider !== null && { provider }),
    ...(attempt !== undefined && { attempt }),
    ...(about !== undefined && { class: about }),
    ...(rule !== undefined && { rule }),
    ...(policy !== undefined && { policy }),
    ...(suppressedBy !== undefined && { suppressedBy }),
    ...(reply && { reply: { code: reply.code, enhanced: reply.enhanced, text: "" } }),
    ...(visit && { visit: { by: visit.by, name: null, address: null, agent: null } }),
  };
}

/** Servers' replies about other recipients can contain the address, too. */
async function eraseReplies(
  tx: HotTransaction,
  { teamId, eraser }: ErasureStep,
  emailId: string,
): Promise<void> {
  const replies = await tx.unsafe<{ id: string; text: string | null; reason: string | null }[]>(
    `select id, last_text as text, last_reason as reason from deliveries d
     where d.team_id = $1 and d.email_id = $2 and ${HAS_MENTION("lower(concat_ws(' ', d.last_text, d.last_reason))", "$3")}`,
    [teamId, emailId, eraser.search],
  );
  for (const { id, text, reason } of replies)
    await tx`
      update deliveries set last_text = ${text && eraser.eraseText(text)}, last_reason = ${reason && eraser.eraseText(reason)}
      where team_id = ${teamId} and email_id = ${emailId} and id = ${id}`;
}

/**
 * The stored bodies of the email's webhook events are deleted: they are rendered again from what is left. An
 * attempt in progress loses its lease, so that neither its body nor the response is stored, and is repeated.
 */
async function eraseWebhooks(
  tx: HotTransaction,
  { teamId, eraser }: ErasureStep,
  emailId: string,
  { isRecipient }: { isRecipient: boolean },
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

/** SQL: the lease token of an event delivery whose attempt in progress must store nothing. */
export const LOST_LEASE = "case when lease_token is not null then gen_random_uuid() end";

const counted = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
