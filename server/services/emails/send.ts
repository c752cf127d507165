import { type AcceptedMail, type AcceptedRecipient, insertMailWith } from "#db/accept";
import type { Header, Priority, Tag } from "#db/schema/emails";
import type { HotTransaction } from "#db/summary";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { formatMailbox, type Mailbox } from "#server/mail/address";
import type { VariableValues } from "../templates/render";
import type { GivenAttachment } from "./attachment-input";
import { collectAttachments } from "./attachments";
import { checkUnsubscribe } from "./list-unsubscribe";
import { readScheduledAt } from "./schedule";
import { checkSender } from "./sender";
import { renderWith } from "./with-template";

/** A mail as a caller wants it sent, its addresses parsed. */
export type NewEmail = {
  from: Mailbox | null;
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
  replyTo: Mailbox[];
  subject: string | null;
  html: string | null;
  /** "" asks for no text part; null for one made from the HTML. */
  text: string | null;
  headers: Header[];
  /** Before or after the team's other mail; default: normal. */
  priority?: Priority;
  /** Each recipient shall be able to unsubscribe by a link in their own copy. */
  listUnsubscribe?: boolean;
  tags: Tag[];
  template: { id: string; variables: VariableValues } | null;
  attachments: GivenAttachment[];
  /** When it shall go out, as the caller wrote it; null for at once. */
  scheduledAt: string | null;
};

/** The caller's promise that a repetition means the same request. */
export type Once = { route: string; key: string; fingerprint: Uint8Array; status: number };

/** Another request with the same key was committed first; its answer is the one to give. */
export class IdempotencyKeyTaken extends Error {}

/**
 * Accepts one mail. When it returns, message, recipients, first event and idempotency record are committed together, and
 * the mail will be delivered or explained. Refuses with 403 a sender whose domain the key is not linked to, with 422
 * what cannot be sent as it is.
 */
export async function sendEmail(ctx: Ctx, input: NewEmail, once?: Once): Promise<{ id: string }> {
  const mail = await prepareEmail(ctx, input);
  const answer = { id: mail.id };
  const written = await ctx.accept({
    mails: [mail],
    idempotency: once && { teamId: ctx.teamId, ...once, answer },
  });
  if (!written) throw new IdempotencyKeyTaken();
  ctx.wake();
  return answer;
}

/** The same in one transaction with what `alongside` writes, such as the audit log's line about whoever sent it by hand. */
export async function sendEmailWith(
  ctx: Ctx,
  input: NewEmail,
  alongside: (tx: HotTransaction, id: string) => Promise<void>,
): Promise<{ id: string }> {
  const mail = await prepareEmail(ctx, input);
  await insertMailWith(ctx.hot, mail, (tx) => alongside(tx, mail.id));
  ctx.wake();
  return { id: mail.id };
}

/** All decisions about one mail: who it is from, what it says, and to whom it goes. Writes nothing. */
export async function prepareEmail(ctx: Ctx, input: NewEmail): Promise<AcceptedMail> {
  const content = await renderWith(ctx, input);
  if (!content.from) throw missing("from");
  if (input.to.length === 0) throw missing("to");
  if (content.subject === null) throw missing("subject");
  if (content.html === null && !content.text) throw missing("html");
  const scheduledAt = input.scheduledAt === null ? null : timeOf(ctx, input.scheduledAt);
  const status = scheduledAt ? "scheduled" : "queued";
  const recipients = recipientsOf(input, status);
  const { openTracking, clickTracking } = await checkSender(ctx, content.from, recipients);
  if (input.listUnsubscribe) checkUnsubscribe(ctx, input.headers);
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

/** The time that a caller wrote, or 422 that says what would work. */
export function timeOf(ctx: Ctx, text: string): Date {
  const read = readScheduledAt(text, ctx.clock());
  if (!read.ok) throw new AppError("invalid", `Invalid \`scheduled_at\`: ${read.fault}`);
  return read.at;
}

/** What a mail cannot be without, and what would do. */
const REQUIRED = {
  from: "Give the sender: ann@example.com or Ann <ann@example.com>.",
  to: "Give a recipient as a string, or several as an array of strings.",
  subject: "Give the subject line, or use a template that has one.",
  html: "Give `html`, `text` or a `template`.",
} as const;

const missing = (field: keyof typeof REQUIRED) =>
  new AppError("missing_field", `Missing \`${field}\` field. ${REQUIRED[field]}`);

/** Each address once, though it stands in several fields: nobody gets the same mail twice. */
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
