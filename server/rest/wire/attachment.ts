import { z } from "zod";
import type { FileLink } from "#server/services/emails/file-links";
import type { StoredFile } from "#server/services/emails/files";
import { PAGING, refuseTwoCursors } from "../query";

/** The query of a list of attachments. */
export const AttachmentListQuery = z.strictObject(PAGING).transform((query) => {
  refuseTwoCursors(query);
  return query;
});

/** A file of a mail; what it does not have is absent. `size` is in bytes. */
export function attachmentJson(file: StoredFile, link: FileLink) {
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
