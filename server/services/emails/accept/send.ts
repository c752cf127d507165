import type { Header, Priority, Tag } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { formatMailbox, type Mailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import type { VariableValues } from "../../templates/render";
import type { HotTransaction } from "../status";
import type { AttachmentInput } from "./attachment-input";
import { collectAttachments } from "./attachments";
import { type AcceptedEmail, type AcceptedRecipient, insertEmailWith } from "./insert-submissions";
import { checkListUnsubscribe } from "./list-unsubscribe";
import { readScheduledAt } from "./schedule";
import { checkSender } from "./sender";
import { renderContent } from "./with-template";

/** An email as the caller submits it, with its addresses parsed. */
export type NewEmail = {
  from: Mailbox | null;
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
  replyTo: Mailbox[];
  subject: string | null;
  html: string | null;
  /** "": no text part. null: the text part is derived from the HTML. */
  text: string | null;
  headers: Header[];
  /** Order relative to the team's other emails; default: normal. */
  priority?: Priority;
  /** Adds an unsubscribe link to each recipient's copy. */
  listUnsubscribe?: boolean;
  tags: Tag[];
  template: { id: string; variables: VariableValues } | null;
  attachments: AttachmentInput[];
  /** The send time as the caller wrote it; null: immediately. */
  scheduledAt: string | null;
};

/**
 * Identifies a repeated request by its idempotency key and body fingerprint; `status` is the HTTP status to
 * replay.
 */
export type Once = { route: string; key: string; fingerprint: Uint8Array; status: number };

/** Another request with the same key was committed first. Respond with its stored response. */
export class IdempotencyKeyTaken extends Error {}

/**
 * Accepts one email. When it returns, message, recipients, first event and idempotency record are committed
 * together, and the email will be delivered, or its failure recorded with the reason. 403 if the key is not
 * linked to the sender's domain; 422 if the email cannot be sent as it is.
 */
export async function sendEmail(ctx: Ctx, input: NewEmail, once?: Once): Promise<{ id: string }> {
  const email = await prepareEmail(ctx, input);
  const answer = { id: email.id };
  const written = await ctx.accept({
    mails: [email],
    idempotency: once && { teamId: ctx.teamId, ...once, answer },
  });
  if (!written) throw new IdempotencyKeyTaken();
  ctx.wake();
  return answer;
}

/**
 * The same, in one transaction with what `alongside` writes, such as the audit entry of the member who sends
 * it.
 */
export async function sendEmailWith(
  ctx: Ctx,
  input: NewEmail,
  alongside: (tx: HotTransaction, id: string) => Promise<void>,
): Promise<{ id: string }> {
  const email = await prepareEmail(ctx, input);
  await insertEmailWith(ctx.hot, email, (tx) => alongside(tx, email.id));
  ctx.wake();
  return { id: email.id };
}

/** Makes all decisions about one email: its sender, content and recipients. Writes nothing. */
export async function prepareEmail(ctx: Ctx, input: NewEmail): Promise<AcceptedEmail> {
  const content = await renderContent(ctx, input);
  if (!content.from) throw missing("from");
  if (input.to.length === 0) throw missing("to");
  if (content.subject === null) throw missing("subject");
  if (content.html === null && !content.text) throw missing("html");
  const scheduledAt = input.scheduledAt === null ? null : parseScheduledAt(ctx, input.scheduledAt);
  const status = scheduledAt ? "scheduled" : "queued";
  const recipients = recipientsOf(input, status);
  const { openTracking, clickTracking } = await checkSender(ctx, content.from, recipients);
  if (input.listUnsubscribe) checkListUnsubscribe(ctx, input.headers);
  const id = newId();
  return {
    id,
    teamId: ctx.teamId,
    apiKeyId: ctx.actor.kind === "key" ? ctx.actor.keyId : null,
    sender: formatMailbox(content.from),
    senderAddress: content.from.address,
    senderDomain: content.from.domain,
    to: input.to.map(formatMailbox),
    cc: input.cc.map(formatMailbox),
    bcc: input.bcc.map(formatMailbox),
    replyTo: content.replyTo.map(formatMailbox),
    subject: content.subject,
    tags: input.tags,
    headers: input.headers,
    priority: input.priority ?? "normal",
    listUnsubscribe: input.listUnsubscribe === true,
    tracksOpens: openTracking && content.html !== null,
    tracksClicks: clickTracking && content.html !== null,
    templateId: content.templateId,
    templateVersionId: content.templateVersionId,
    messageId: `${id}@${content.from.domain}`,
    status,
    scheduledAt,
    html: content.html,
    text: content.text,
    eventId: newId(),
    recipients,
    attachments: await collectAttachments(ctx, input.attachments),
  };
}

/** Parses the caller's `scheduled_at`; 422 with an example of a valid time. */
export function parseScheduledAt(ctx: Ctx, text: string): Date {
  const read = readScheduledAt(text, ctx.clock());
  if (!read.ok) throw new AppError("invalid", `Invalid \`scheduled_at\`: ${read.fault}`);
  return read.at;
}

/** The required fields, and how to fix a missing one. */
const REQUIRED = {
  from: "Set the sender: ann@example.com or Ann <ann@example.com>.",
  to: "Set one recipient as a string, or several as an array of strings.",
  subject: "Set the subject, or use a template that has one.",
  html: "Set `html`, `text` or a `template`.",
} as const;

const missing = (field: keyof typeof REQUIRED) =>
  new AppError("missing_field", `Missing \`${field}\` field. ${REQUIRED[field]}`);

/** Each address once, even if it is in several fields: a recipient never gets the same email twice. */
function recipientsOf({ to, cc, bcc }: NewEmail, status: "queued" | "scheduled"): AcceptedRecipient[] {
  const byAddress = new Map<string, AcceptedRecipient>();
  const add = (kind: "to" | "cc" | "bcc", mailboxes: Mailbox[]) => {
    for (const { address, domain } of mailboxes)
      if (!byAddress.has(address)) byAddress.set(address, { id: newId(), kind, address, domain, status });
  };
  add("to", to);
  add("cc", cc);
  add("bcc", bcc);
  return [...byAddress.values()];
}
