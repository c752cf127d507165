import { and, asc, eq, getTableColumns } from "drizzle-orm";
import { attachments, capturedMessages, emailBodies } from "#db/schema/emails";
import { snakeCase } from "#db/statement";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import type { Email } from "#server/shared/wire/email";
import { optionsOf } from "../accept/send";
import { outgoingMessage } from "../outgoing";
import { fileNameOf, listFiles } from "./files";
import { getEmail } from "./read";

export type Source = {
  bytes: Uint8Array;
  /**
   * `captured`: as it would have been sent, stored by the capture transport. `composed`: built now from the
   * stored rows, or the message as it was submitted over SMTP, without the signature and without the
   * individual parts of a recipient's copy.
   */
  kind: "captured" | "composed";
};

/** An email as a file that email clients open (RFC 5322). AppError `conflict` if its content was erased. */
export async function getSource(ctx: Ctx, id: string): Promise<Source> {
  const email = await getEmail(ctx, id);
  if (email.isErased)
    throw new AppError(
      "conflict",
      "The content of this email was erased, by the team's retention settings or on request, so its source is not available.",
    );
  const [captured] = await ctx.db
    .select({ raw: capturedMessages.raw })
    .from(capturedMessages)
    .where(and(eq(capturedMessages.teamId, ctx.teamId), eq(capturedMessages.emailId, id)));
  if (captured) return { bytes: captured.raw, kind: "captured" };
  const { filename, contentType, contentId, content } = getTableColumns(attachments);
  const files = await ctx.db
    .select({ filename, contentType, contentId, content })
    .from(attachments)
    .where(and(eq(attachments.teamId, ctx.teamId), eq(attachments.emailId, id)))
    .orderBy(asc(attachments.position));
  const [body] = await ctx.db
    .select({ raw: emailBodies.raw, madeText: emailBodies.madeText })
    .from(emailBodies)
    .where(and(eq(emailBodies.teamId, ctx.teamId), eq(emailBodies.emailId, id)));
  const text = await textOf(ctx, email, body?.madeText ?? null);
  const { bytes } = outgoingMessage({ ...email, text, createdAt: dateOf(email), files, raw: body?.raw });
  return { bytes, kind: "composed" };
}

/** The text that was sent, if it is stored. */
async function textOf(ctx: Ctx, { html, text }: Email, madeText: string | null): Promise<string> {
  if (text !== null || html === null) return text ?? "";
  return madeText ?? ctx.convertToText(ctx.teamId, html);
}

/** The date of a scheduled email is the time at which it was due. */
const dateOf = ({ createdAt, scheduledAt }: Email): Date =>
  scheduledAt !== null && scheduledAt > createdAt ? scheduledAt : createdAt;

const filesMax = 100;

/**
 * The request body that would send the same email again. File contents are replaced by the file names. An
 * email from a template is described by its rendered content. AppError `conflict` if the content was erased.
 */
export async function describeAsApiCall(ctx: Ctx, id: string): Promise<Record<string, unknown>> {
  const [email, files] = await Promise.all([getEmail(ctx, id), listFiles(ctx, id, { limit: filesMax })]);
  if (email.isErased)
    throw new AppError("conflict", "The content of this email was erased, so no API call can send it again.");
  const { scheduledAt } = email;
  const attachments = files.rows.map((file) => ({
    filename: fileNameOf(file),
    content_type: file.contentType,
    ...(file.contentId === null ? {} : { content_id: file.contentId }),
    content: `<${fileNameOf(file)} in base64>`,
  }));
  const body = {
    from: email.sender,
    to: email.to,
    cc: email.cc,
    bcc: email.bcc,
    reply_to: email.replyTo,
    subject: email.subject,
    html: email.html,
    ...changedOptionsOf(email),
    headers: Object.fromEntries(email.headers.map(({ name, value }) => [name, value])),
    attachments,
    scheduled_at: scheduledAt !== null && scheduledAt > ctx.clock() ? scheduledAt.toISOString() : null,
  };
  const present = Object.entries(body).filter(([, value]) => !isEmpty(value));
  // An empty `text` is not the same as an absent one: it requests an email without a text part.
  return Object.fromEntries([...present, ...(email.text === null ? [] : [["text", email.text]])]);
}

/** The options that differ from their defaults, with their names in the API. */
function changedOptionsOf(email: Email): Record<string, unknown> {
  const defaults: Record<string, unknown> = optionsOf({});
  const changed = Object.entries(optionsOf(email)).filter(([name, value]) => value !== defaults[name]);
  return Object.fromEntries(changed.map(([name, value]) => [snakeCase(name), value]));
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);
