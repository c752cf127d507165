import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { nameOfFile } from "./file-links";
import { listFiles } from "./files";
import { type Email, getEmail } from "./read";

const filesMax = 100;

/**
 * The body of the call that would send the same mail again. What files hold is left out: in the place of their bytes stands
 * what they are called. A template's mail is what was made of it. AppError `conflict` where what it said was erased.
 */
export async function describeAsCall(ctx: Ctx, id: string): Promise<Record<string, unknown>> {
  const [email, files] = await Promise.all([getEmail(ctx, id), listFiles(ctx, id, { limit: filesMax })]);
  if (email.isErased)
    throw new AppError("conflict", "What this mail said was erased, so no call would send it again.");
  const attachments = files.rows.map((file) => ({
    filename: nameOfFile(file),
    content_type: file.contentType,
    ...(file.contentId === null ? {} : { content_id: file.contentId }),
    content: `<${nameOfFile(file)} in base64>`,
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
    ...rareParts(ctx, email),
  };
  const said = Object.entries(body).filter(([, value]) => !isEmpty(value));
  // "" is no absence there: it asks for a mail without a text part.
  return Object.fromEntries([...said, ...(email.text === null ? [] : [["text", email.text]])]);
}

function rareParts(ctx: Ctx, { priority, listUnsubscribe, scheduledAt }: Email): Record<string, unknown> {
  const isAhead = scheduledAt !== null && scheduledAt > ctx.clock();
  return {
    ...(priority === "normal" ? {} : { priority }),
    ...(listUnsubscribe ? { list_unsubscribe: true } : {}),
    ...(isAhead ? { scheduled_at: scheduledAt.toISOString() } : {}),
  };
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);
