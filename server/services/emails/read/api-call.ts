import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import type { Email } from "#server/shared/wire/email";
import { fileNameOf, listFiles } from "./files";
import { getEmail } from "./read";

const filesMax = 100;

/**
 * The request body that would send the same email again. File contents are replaced by the file names. An
 * email from a template is described by its rendered content. AppError `conflict` if the content was erased.
 */
export async function describeAsApiCall(ctx: Ctx, id: string): Promise<Record<string, unknown>> {
  const [email, files] = await Promise.all([getEmail(ctx, id), listFiles(ctx, id, { limit: filesMax })]);
  if (email.isErased)
    throw new AppError("conflict", "The content of this email was erased, so no API call can send it again.");
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
    headers: Object.fromEntries(email.headers.map(({ name, value }) => [name, value])),
    tags: email.tags,
    attachments,
    ...optionalParts(ctx, email),
  };
  const present = Object.entries(body).filter(([, value]) => !isEmpty(value));
  // An empty `text` is not the same as an absent one: it requests an email without a text part.
  return Object.fromEntries([...present, ...(email.text === null ? [] : [["text", email.text]])]);
}

function optionalParts(ctx: Ctx, { priority, listUnsubscribe, scheduledAt }: Email): Record<string, unknown> {
  const isInFuture = scheduledAt !== null && scheduledAt > ctx.clock();
  return {
    ...(priority === "normal" ? {} : { priority }),
    ...(listUnsubscribe ? { list_unsubscribe: true } : {}),
    ...(isInFuture ? { scheduled_at: scheduledAt.toISOString() } : {}),
  };
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);
