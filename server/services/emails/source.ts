import { and, asc, eq } from "drizzle-orm";
import { attachments } from "#db/schema/attachments";
import { capturedMessages } from "#db/schema/emails";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { outgoingMessage } from "./outgoing";
import { type Email, getEmail } from "./read";

export type Source = {
  bytes: Uint8Array;
  /**
   * `captured`: as it would have gone over the wire, kept by the transport that delivers to nobody. `composed`: made now
   * of what is stored, without the signature and without what only one recipient's copy has.
   */
  kind: "captured" | "composed";
};

/** A mail as a file that mail programs open (RFC 5322). AppError `conflict` where what it said was erased. */
export async function readSource(ctx: Ctx, id: string): Promise<Source> {
  const email = await getEmail(ctx, id);
  if (email.isErased)
    throw new AppError(
      "conflict",
      "What this mail said was erased, as the team's retention has it, so there is no file of it.",
    );
  const [captured] = await ctx.db
    .select({ raw: capturedMessages.raw })
    .from(capturedMessages)
    .where(and(eq(capturedMessages.teamId, ctx.teamId), eq(capturedMessages.emailId, id)));
  if (captured) return { bytes: captured.raw, kind: "captured" };
  const files = await ctx.db
    .select({
      filename: attachments.filename,
      contentType: attachments.contentType,
      contentId: attachments.contentId,
      content: attachments.content,
    })
    .from(attachments)
    .where(and(eq(attachments.teamId, ctx.teamId), eq(attachments.emailId, id)))
    .orderBy(asc(attachments.position));
  return { bytes: outgoingMessage({ ...email, createdAt: dateOf(email), files }).bytes, kind: "composed" };
}

/** A scheduled mail bears the time at which it was due. */
const dateOf = ({ createdAt, scheduledAt }: Email): Date =>
  scheduledAt !== null && scheduledAt > createdAt ? scheduledAt : createdAt;
