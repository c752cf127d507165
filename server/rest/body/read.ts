import { AppError } from "#server/platform/errors";
import { type BodyReservation, smallBodyBytes } from "#server/platform/limits/body-budget";
import { arrivalMsMax, bodyParts, inTime } from "#server/platform/limits/body-parts";
import type { Threads } from "#server/platform/threads";
import { type JsonBody, READ_JSON } from "./json";

/**
 * Limits for reading and discarding the rest of a rejected body: a multiple of the maximum size, and times in
 * ms.
 */
const discardedTimes = 2;
const discardMsMax = 10_000;
const discardIdleMs = 1_000;

/** The maximum size of a body, the advice for a larger one, and the budget that counts its memory. */
export type BodySize = {
  maxBytes: number;
  /** A sentence on how the caller can send less. */
  advice: string;
  claim: BodyReservation;
};

const NO_BODY: JsonBody = { json: undefined, fingerprint: null };
const readMsMax = 60_000;

/**
 * Reads the JSON body of a request. Rejects too many bytes (counted on arrival, whatever Content-Length
 * says), another content type, invalid UTF-8, invalid JSON, excessive nesting, and text that PostgreSQL
 * cannot store. The body is `undefined` if it is empty, whatever its type. If a name occurs twice in an
 * object, the last value counts. `unavailable` if reading takes too long. Teams take turns as `holder`.
 */
export async function readJson(
  request: Request,
  size: BodySize,
  { threads, holder, isFingerprinted }: { threads: Threads; holder: string; isFingerprinted: boolean },
): Promise<JsonBody> {
  if (declaredLength(request) === 0) return NO_BODY;
  const chunks: Uint8Array[] = [];
  for await (const part of receive(request, size, smallBodyBytes)) {
    if (chunks.push(part) === 1 && part.length > 0) checkType(request);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return NO_BODY;
  return threads.read(holder, READ_JSON, { bytes, isFingerprinted }, readMsMax);
}

/**
 * Waits for the end of a body and discards it. A route that ignores its body acts only once the whole request
 * has arrived: a request that turns out to be malformed gets 400 and must have no effect.
 */
export async function skipBody(request: Request, size: BodySize): Promise<void> {
  for await (const _ of receive(request, size));
}

/**
 * Streams the bytes of a body of one of these content types when the memory budget has room. Throws
 * immediately if a header shows a wrong type or length. The stream throws if the body is too large or ends
 * early.
 */
export function streamBody(
  request: Request,
  size: BodySize,
  types: readonly string[],
): AsyncIterable<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (Number(declared) > size.maxBytes) throw tooLarge(size);
  if (declared === "0" || request.body === null)
    throw new AppError(
      "bad_json",
      `The body is missing. Send one with the header \`Content-Type: ${types[0]}\`.`,
    );
  checkType(request, types);
  return receive(request, size);
}

/** The value of Content-Length; null if it is absent or Transfer-Encoding overrides it. */
function declaredLength({ headers }: Request): number | null {
  const declared = headers.get("content-length");
  return declared === null || headers.has("transfer-encoding") ? null : Number(declared);
}

/**
 * Yields the parts of a body and counts their bytes. A body without a declared length reserves the maximum
 * size. One with at most `wholeBytesMax` is one part. Frees the memory of a body that is not read completely,
 * and discards its rest, also if the reader stopped: the caller is still sending.
 */
async function* receive(request: Request, size: BodySize, wholeBytesMax = 0): AsyncGenerator<Uint8Array> {
  const { maxBytes, claim } = size;
  let length = 0;
  let isRead = false;
  let isLate = false;
  try {
    if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(size);
    const declared = declaredLength(request);
    if (declared !== null && declared <= wholeBytesMax) {
      // HTTP ensures that the body has the declared length. Reading it whole costs half as much as counting
      // the parts: without `body` and `signal` the server builds no `Request` of the platform.
      const whole = await inTime(request.arrayBuffer(), arrivalMsMax(declared, claim.timeouts));
      length = whole.byteLength;
      isRead = length > 0;
      yield new Uint8Array(whole);
    } else if (request.body) {
      claim.expect(declared ?? maxBytes);
      for await (const part of bodyParts(request.body, claim)) {
        length += part.length;
        if (length > maxBytes) throw tooLarge(size);
        yield part;
      }
    }
    // Node presents the body of a connection that broke before the first read as an empty stream.
    if (length === 0 && request.signal.aborted) throw endedEarly(request.signal.reason);
    isRead = true;
  } catch (cause) {
    const error = cause instanceof AppError ? cause : endedEarly(cause);
    isLate = error.code === "too_slow";
    throw error;
  } finally {
    if (!isRead) claim.release();
    // Do not wait again for a body that arrived too slowly.
    if (!isRead && !isLate && request.body) await discardRest(request.body, maxBytes * discardedTimes);
  }
}

/**
 * Reads and discards the rest of a body, up to `bytesMax`, `discardMsMax` and a pause of `discardIdleMs`.
 * Most clients read the response only after they have sent the whole body; if the connection closes earlier,
 * they never receive the error.
 */
async function discardRest(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<void> {
  if (body.locked) return;
  const reader = body.getReader();
  const deadline = AbortSignal.timeout(discardMsMax);
  try {
    for (let length = 0; length <= bytesMax; ) {
      const part = await inTime(reader.read(), discardIdleMs, deadline);
      if (part.done) return;
      length += part.value.length;
    }
  } catch {
    // The sender paused or disconnected.
  } finally {
    // Cancelling would close the connection before the response.
    reader.releaseLock();
  }
}

/** Names of content types in error messages. */
const NAMES: Record<string, string> = {
  "application/json": "JSON",
  "text/csv": "CSV",
  "message/rfc822": "an email message",
};

/** Rejects a body of another type or with compression. The error recommends the first type. */
function checkType(request: Request, types: readonly string[] = ["application/json"]): void {
  const [type = ""] = types;
  const given = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (given === undefined || !types.includes(given))
    throw new AppError(
      "wrong_content_type",
      `Send the body as ${NAMES[type] ?? type} with the header \`Content-Type: ${type}\`.`,
    );
  if (!/^(identity)?$/i.test(request.headers.get("content-encoding") ?? ""))
    throw new AppError(
      "wrong_content_type",
      "Send the body uncompressed, without `Content-Encoding`: compressed bodies are not supported.",
    );
}

const endedEarly = (cause: unknown) =>
  new AppError("bad_json", "The body ended early. Send the number of bytes in Content-Length.", { cause });

const tooLarge = ({ maxBytes, advice }: BodySize) =>
  new AppError("too_large", `The body is larger than ${sizeText(maxBytes)}. ${advice}`);

const sizeText = (bytes: number): string => {
  const [unit, size] = bytes < 1024 * 1024 ? ["KB", 1024] : ["MB", 1024 * 1024];
  return `${(bytes / Number(size)).toLocaleString("en", { maximumFractionDigits: 1 })} ${unit}`;
};
