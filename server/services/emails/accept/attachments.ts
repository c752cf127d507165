import mime from "mime";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import type { AcceptedAttachment } from "./insert-submissions";
import { type AttachmentInput, attachmentsBase64BytesMax } from "./message-input";

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
  deadlineMs: number,
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
  const fetched =
    urls.size === 0 ? null : await fetchFiles(ctx, urls, { reserve, bytesMax: left, deadlineMs });
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

/** Time for all files of a request together. */
const fetchMs = 20_000;
/** When the files of a request that begins now must have been fetched, by `performance.now()`. */
export const fetchDeadlineMs = (): number => performance.now() + fetchMs;
const fetchesAtOnce = 4;

/** State shared by all fetches of one email. */
type Fetching = {
  /** Counts bytes of a file before more of it is read. Throws or waits if there are too many. */
  count(bytes: number): Promise<void>;
  bytesMax: number;
  signal: AbortSignal;
};

/**
 * Fetches files through the egress guard; the keys of `urls` are attachment indexes. Fetches `fetchesAtOnce`
 * at a time and counts the bytes against the memory of the request. `reserve` throws if the email's limit,
 * `bytesMax`, is exceeded. If one file cannot be fetched, the other fetches are aborted.
 */
export async function fetchFiles(
  ctx: Ctx,
  urls: ReadonlyMap<number, string>,
  limits: { reserve: (bytes: number) => void; bytesMax: number; deadlineMs: number },
): Promise<Map<number, Buffer>> {
  const files = new Map<number, Buffer>();
  const { claim } = ctx;
  const { reserve, bytesMax, deadlineMs } = limits;
  if (!claim)
    throw new TypeError("files can only be fetched within a request, which accounts for their memory");
  const abortController = new AbortController();
  const stop = (reason: unknown) => abortController.abort(reason);
  const onRejected = () => stop(claim.signal.reason);
  const timer = setTimeout(() => {
    const late = [...urls.keys()].filter((index) => !files.has(index)).map(fieldOf);
    stop(
      invalid(
        `${late.join(", ")} could not be fetched within ${fetchMs / 1000} s. Send smaller files, or use \`content\`.`,
      ),
    );
  }, deadlineMs - performance.now());
  claim.signal.addEventListener("abort", onRejected);
  const fetching: Fetching = {
    bytesMax,
    signal: abortController.signal,
    async count(bytes) {
      reserve(bytes);
      await claim.grow(bytes, "files");
    },
  };

  const remaining = urls.entries();
  const fetchSome = async () => {
    for (const [index, url] of remaining) {
      if (abortController.signal.aborted) return;
      files.set(index, await fetchFile(ctx, url, index, fetching));
    }
  };
  try {
    claim.expect(bytesMax, "files");
    await Promise.all(Array.from({ length: fetchesAtOnce }, () => fetchSome().catch(stop)));
    abortController.signal.throwIfAborted();
    claim.settle();
    return files;
  } finally {
    clearTimeout(timer);
    claim.signal.removeEventListener("abort", onRejected);
  }
}

async function fetchFile(
  { outside }: Ctx,
  url: string,
  index: number,
  { count, bytesMax, signal }: Fetching,
): Promise<Buffer> {
  const field = fieldOf(index);
  const fault = outside.checkUrl(url);
  if (fault) throw invalid(`${field}: ${fault}`);
  let uncounted: unknown;
  const response = await outside.fetch(url, {
    method: "GET",
    timeoutMs: fetchMs,
    responseBytesMax: bytesMax,
    signal,
    onPart: (bytes) =>
      count(bytes).catch((error: unknown) => {
        uncounted = error;
        throw error;
      }),
  });
  if (uncounted !== undefined) throw uncounted;
  if (response.kind === "fault") throw invalid(`${field} could not be fetched (${response.fault}).`);
  if (response.status >= 300 && response.status < 400)
    throw invalid(
      `${field} is redirected (${response.status}). Redirects are not followed: enter the URL of the file itself.`,
    );
  if (response.status !== 200) throw invalid(`${field} returned ${response.status} instead of 200.`);
  if (!/^(identity)?$/i.test(response.headers["content-encoding"] ?? ""))
    throw invalid(`${field} returned a compressed response. Serve the file uncompressed.`);
  return response.body;
}

const fieldOf = (index: number): string => `\`attachments[${index}].path\``;
const invalid = (message: string) => new AppError("invalid_attachment", message);
