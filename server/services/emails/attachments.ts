import mime from "mime";
import type { AcceptedAttachment } from "#db/accept";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { attachmentsBase64BytesMax, type GivenAttachment } from "./attachment-input";

const fetchMs = 10_000;
const bytesMax = Math.floor((attachmentsBase64BytesMax / 4) * 3);
const megabytesMax = Math.round(attachmentsBase64BytesMax / 1_000_000);

/**
 * The files of a mail with their bytes: those given by address are fetched now, through the guard, one after another and
 * never beyond what a mail may hold. A missing type is that of the name's ending.
 */
export async function collectAttachments(
  ctx: Ctx,
  given: readonly GivenAttachment[],
): Promise<AcceptedAttachment[]> {
  const files: AcceptedAttachment[] = [];
  let left = bytesMax;
  for (const [index, file] of given.entries()) {
    const { source } = file;
    const content = "content" in source ? source.content : await fetchFile(ctx, source.url, index, left);
    left -= content.length;
    if (left < 0) throw tooMuch();
    const filename = file.filename ?? ("url" in source ? nameOf(source.url) : null);
    files.push({
      id: newId(),
      filename,
      contentType: file.contentType ?? typeOf(filename) ?? "application/octet-stream",
      contentId: file.contentId,
      content,
    });
  }
  return files;
}

/** By the name's ending. Files are sent in base64, which a message within a message may not be in (RFC 2046 section 5.2.1). */
function typeOf(filename: string | null): string | null {
  const type = filename && mime.getType(filename);
  return type && !/^(multipart|message)\//.test(type) ? type : null;
}

const tooMuch = () =>
  new AppError(
    "invalid_attachment",
    `The files of one mail may have ${megabytesMax} MB in base64 together. Send less, or links.`,
  );

async function fetchFile(ctx: Ctx, url: string, index: number, answerBytesMax: number): Promise<Buffer> {
  const field = `\`attachments[${index}].path\``;
  const fault = ctx.outside.checkUrl(url);
  if (fault) throw new AppError("invalid_attachment", `${field}: ${fault}`);
  const answer = await ctx.outside.fetch(url, { method: "GET", timeoutMs: fetchMs, answerBytesMax });
  if (answer.kind === "fault")
    throw new AppError("invalid_attachment", `${field} could not be fetched (${answer.fault}).`);
  if (answer.status !== 200)
    throw new AppError(
      "invalid_attachment",
      `${field} answered ${answer.status} instead of 200. Redirects are not followed.`,
    );
  if (answer.isCut) throw tooMuch();
  if (!/^(identity)?$/i.test(answer.headers["content-encoding"] ?? ""))
    throw new AppError(
      "invalid_attachment",
      `${field} answered in a compressed form. Serve the file as it is.`,
    );
  return answer.body;
}

/** The last part of a URL's path, where it can serve as a file's name. */
function nameOf(url: string): string | null {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  return /^[\w.-]{1,255}$/.test(last) ? last : null;
}
