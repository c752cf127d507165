import { z } from "zod";
import type { attachments } from "#db/schema/emails";
import { Id, Time } from "./shapes";

/** A file of an email, without its bytes. */
export type StoredFile = Omit<typeof attachments.$inferSelect, "content">;

export const AttachmentResponse = z
  .object({
    id: Id,
    filename: z.string().optional(),
    size: z.int().describe("In bytes."),
    content_type: z.string(),
    content_disposition: z.enum(["attachment", "inline"]),
    content_id: z.string().optional(),
    download_url: z.string(),
    expires_at: Time,
  })
  .meta({ id: "Attachment" });

/**
 * An attachment of an email, without the link to download it. `filename` and `content_id` are absent if it
 * has none; `size` is in bytes.
 */
export function presentAttachment({ id, filename, sizeBytes, contentType, contentId }: StoredFile) {
  return {
    id,
    ...(filename !== null && { filename }),
    size: sizeBytes,
    content_type: contentType,
    content_disposition: contentId === null ? ("attachment" as const) : ("inline" as const),
    ...(contentId !== null && { content_id: contentId }),
  };
}
