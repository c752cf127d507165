import { z } from "zod";
import type { FileLink } from "#server/services/emails/read/file-links";
import type { StoredFile } from "#server/services/emails/read/files";
import { Id, Time } from "#server/shared/wire/shapes";
import { PAGING, rejectTwoCursors } from "../pipeline/query";

/** The query of a list of attachments. */
export const AttachmentListQuery = z.strictObject(PAGING).transform((query) => {
  rejectTwoCursors(query);
  return query;
});

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

/** An attachment of an email. `filename` and `content_id` are absent if it has none; `size` is in bytes. */
export function attachmentJson(file: StoredFile, link: FileLink): z.infer<typeof AttachmentResponse> {
  return {
    id: file.id,
    ...(file.filename === null ? {} : { filename: file.filename }),
    size: file.sizeBytes,
    content_type: file.contentType,
    content_disposition: file.contentId === null ? "attachment" : "inline",
    ...(file.contentId === null ? {} : { content_id: file.contentId }),
    download_url: link.url,
    expires_at: link.expiresAt.toISOString(),
  };
}
