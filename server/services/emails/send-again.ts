import { and, asc, eq } from "drizzle-orm";
import { attachments } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { type Mailbox, parseLongMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import type { Email } from "#server/shared/wire/email";
import { recordAuditHot } from "../audit/record";
import { isBlocking } from "../suppressions/blocking";
import { findSuppressed } from "../suppressions/read";
import { fingerprintOf } from "./accept/fingerprint";
import { findStoredResponse } from "./accept/idempotency";
import type { AttachmentInput } from "./accept/message-input";
import { IdempotencyKeyTaken, type NewEmail, optionsOf, sendEmailWith } from "./accept/send";
import { checkSender } from "./accept/sender";
import { getEmail } from "./read/read";
import type { HotTransaction } from "./status";

const route = "console emails.sendAgain";

type Fields = "to" | "cc" | "bcc";
/** The recipients of the new email; a field that is left out has those of the first one. */
export type NewRecipients = { [Field in Fields]?: Mailbox[] };

/** Why an email cannot be sent again as a new one, with the same reasons as the API; null if it can. */
export async function findSendAgainFault(ctx: Ctx, email: Email): Promise<string | null> {
  if (email.isErased)
    return "The content of this email was erased, by the team's retention settings or on request, so it cannot be sent again.";
  if (email.isSubmitted)
    return "A program submitted this email over SMTP as a complete message. Submit it again with the program.";
  try {
    await checkSender(ctx, mailboxOf(email.sender), []);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/**
 * Sends a new email with the content of this one: sender, reply addresses, subject, texts, headers, files,
 * tags and priority, now. It is accepted like an email of the API, with the same checks, and tracks what the
 * first one tracked, if the domain still does. A repetition with the same `repeatKey` returns the same email.
 * AppError `conflict` if the content was erased.
 */
export async function sendAgain(
  ctx: Ctx,
  { id, recipients, repeatKey }: { id: string; recipients: NewRecipients; repeatKey: string },
): Promise<{ id: string }> {
  const once = { route, key: repeatKey, fingerprint: fingerprintOf({ id, recipients }), status: 200 };
  const readStored = async () => {
    const stored = await findStoredResponse(ctx, once);
    return stored && { id: String(stored.body.id) };
  };
  const stored = await readStored();
  if (stored) return stored;
  const email = await getEmail(ctx, id);
  const fault = await findSendAgainFault(ctx, email);
  if (fault !== null) throw new AppError("conflict", fault);
  const copy = await copyOf(ctx, email, recipients);
  try {
    return await sendEmailWith(ctx, copy, (tx, newId) => recordBoth(tx, ctx, email, newId), once);
  } catch (error) {
    const first = error instanceof IdempotencyKeyTaken ? await readStored() : null;
    if (first) return first;
    throw error;
  }
}

/**
 * The addresses among the recipients of the new email that are suppressed: it is not sent to them. Those who
 * unsubscribed are only suppressed for emails of the lists concerned.
 */
export async function findSuppressedRecipients(
  ctx: Ctx,
  { id, recipients }: { id: string; recipients: NewRecipients },
): Promise<string[]> {
  const email = await getEmail(ctx, id);
  const { to, cc, bcc } = recipientsOf(email, recipients);
  const addresses = [...to, ...cc, ...bcc].map(({ address }) => address);
  const found = await findSuppressed(ctx, addresses);
  return [...found].flatMap(([address, entry]) => (isBlocking(entry, email) ? [address] : []));
}

/** Both emails refer to each other, and the audit log has the new one. */
async function recordBoth(tx: HotTransaction, ctx: Ctx, email: Email, newId: string): Promise<void> {
  const { count } = await tx`
    update email_bodies set sent_again_as = ${newId} where team_id = ${ctx.teamId} and email_id = ${email.id}`;
  // The content was erased since it was read, so the copy must not be sent either.
  if (count === 0) throw new AppError("conflict", "The content of this email was just erased.");
  await tx`
    update email_bodies set sent_again_of = ${email.id} where team_id = ${ctx.teamId} and email_id = ${newId}`;
  await recordAuditHot(tx, ctx, {
    action: "email.sent_again",
    subject: { id: newId, name: email.subject },
    detail: { first_email: email.id },
  });
}

async function copyOf(ctx: Ctx, email: Email, recipients: NewRecipients): Promise<NewEmail> {
  return {
    ...recipientsOf(email, recipients),
    from: mailboxOf(email.sender),
    replyTo: email.replyTo.map(mailboxOf),
    subject: email.subject,
    html: email.html,
    text: email.text,
    ...optionsOf(email),
    template: null,
    attachments: await readFiles(ctx, email.id),
    scheduledAt: null,
    tracks: { opens: email.tracksOpens, clicks: email.tracksClicks },
  };
}

const recipientsOf = (email: Email, given: NewRecipients) => ({
  to: given.to ?? email.to.map(mailboxOf),
  cc: given.cc ?? email.cc.map(mailboxOf),
  bcc: given.bcc ?? email.bcc.map(mailboxOf),
});

async function readFiles(ctx: Ctx, emailId: string): Promise<AttachmentInput[]> {
  const rows = await ctx.db
    .select({
      filename: attachments.filename,
      contentType: attachments.contentType,
      contentId: attachments.contentId,
      content: attachments.content,
    })
    .from(attachments)
    .where(and(eq(attachments.teamId, ctx.teamId), eq(attachments.emailId, emailId)))
    .orderBy(asc(attachments.position));
  return rows.map(({ content, ...file }) => ({ ...file, source: { content: Buffer.from(content) } }));
}

/** A stored mailbox was valid when it was accepted. */
function mailboxOf(text: string): Mailbox {
  const read = parseLongMailbox(text);
  if (!read.ok)
    throw new AppError("conflict", `This email cannot be sent again: ${text} is not a valid address.`);
  return read.mailbox;
}
