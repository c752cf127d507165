import mime from "mime";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { type AttachmentInput, attachmentsBase64BytesMax } from "./attachment-input";
import { fetchFiles } from "./fetch-files";
import type { AcceptedAttachment } from "./insert-submissions";

/** Limit for all files of one email together, in bytes. */
export const filesMaxBytes = Math.floor((attachmentsBase64BytesMax / 4) * 3);
const megabytesMax = Math.round(attachmentsBase64BytesMax / 1_000_000);

/**
 * The files of an email with their bytes. Files given by URL are fetched now. 422 if they exceed the limit
 * for one email or if one cannot be fetched. A missing content type is derived from the file name extension.
 */
export async function collectAttachments(
  ctx: Ctx,
  given: readonly AttachmentInput[],
): Promise<AcceptedAttachment[]> {
  let left = filesMaxBytes;
  const reserve = (bytes: number) => {
    left -= bytes;
    if (left < 0) throw tooLarge();
  };
  const urls = new Map<number, string>();
  for (const [index, { source }] of given.entries()) {
    if ("content" in source) reserve(source.content.length);
    else urls.set(index, source.url);
  }
  const fetched = urls.size === 0 ? null : await fetchFiles(ctx, urls, { reserve, bytesMax: left });
  return given.map(({ source, ...file }, index) => {
    const content = "content" in source ? source.content : fetched?.get(index);
    if (!content) throw new TypeError("a file has neither content nor a fetched body");
    const filename = file.filename ?? ("url" in source ? fileNameOf(source.url) : null);
    return {
      id: newId(),
      filename,
      contentType: file.contentType ?? contentTypeOf(filename) ?? "application/octet-stream",
      contentId: file.contentId,
      content,
    };
  });
}

/**
 * By file name extension. Files are sent in base64, and an embedded message must not be (RFC 2046 section
 * 5.2.1).
 */
function contentTypeOf(filename: string | null): string | null {
  const type = filename && mime.getType(filename);
  return type && !/^(multipart|message)\//.test(type) ? type : null;
}

const tooLarge = () =>
  new AppError(
    "invalid_attachment",
    `The files of one email must not exceed ${megabytesMax} MB in base64. Send fewer files, or links to them.`,
  );

/** The last segment of a URL's path if it is usable as a file name. */
function fileNameOf(url: string): string | null {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  return /^[\w.-]{1,255}$/.test(last) ? last : null;
}
