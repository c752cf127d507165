import { AppError } from "#server/errors";
import { smallBodyBytes } from "./body-room";
import { checkTree, refuseCrowd } from "./tree";

// A byte order mark at the start is dropped, as RFC 8259 section 8.1 allows a reader to do.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** How often over the largest body, and how long, what is refused is taken in all the same. */
const discardedTimes = 2;
const discardMsMax = 10_000;

/** How much may come, what to say of more, and whom to ask before much of it is read. */
export type BodySize = {
  maxBytes: number;
  /** How the caller can send less, in a sentence. */
  advice: string;
  /** Waits until there is room for so many bytes. */
  enter: (bytes: number) => Promise<void>;
};

/**
 * Reads a request's JSON body and refuses what no service should ever see: too many bytes (counted as they come, whatever
 * the length header claims), another type, invalid UTF-8, broken JSON, absurd nesting, and text that PostgreSQL cannot
 * hold. An empty body is `undefined`, whatever its type. Of a name that stands twice the last one counts.
 */
export async function readJson(request: Request, size: BodySize): Promise<unknown> {
  const bytes = await readBytes(request, size);
  if (bytes.byteLength === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new AppError("bad_json", "The body is not valid UTF-8. Encode it as UTF-8.", { cause });
  }
  refuseCrowd(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError("bad_json", `The body is not valid JSON${placeOf(cause)}. Send one JSON value.`, {
      cause,
    });
  }
  // The text was valid UTF-8 and valid JSON, so only an escape can have brought in NUL or half of a surrogate pair.
  checkTree(value, text.includes("\\u"));
  return value;
}

async function readBytes(request: Request, size: BodySize): Promise<Uint8Array> {
  const { maxBytes, advice, enter } = size;
  const declared = request.headers.get("content-length");
  const length = declared === null ? null : Number(declared);
  if (length === 0) return new Uint8Array();
  const isCounted = length === null || request.headers.has("transfer-encoding");
  try {
    if (length !== null && length > maxBytes) throw tooLarge(maxBytes, advice);
    if (!isCounted) await enter(length);
    // HTTP itself holds a body to the length it declares; the fast way costs half of the other.
    const bytes = isCounted ? await readCounted(request, size) : new Uint8Array(await request.arrayBuffer());
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes, advice);
    if (bytes.byteLength > 0) checkType(request);
    return bytes;
  } catch (cause) {
    await discardRest(request, maxBytes * discardedTimes);
    if (cause instanceof AppError) throw cause;
    throw endedEarly(cause);
  }
}

/**
 * Takes in, and forgets, what is still on its way: most clients read the answer only when they have sent all, and one whose
 * connection ends before that never learns why. It goes on for so many bytes and `discardMsMax`.
 */
async function discardRest(request: Request, bytesMax: number): Promise<void> {
  if (!request.body || request.body.locked) return;
  const reader = request.body.getReader();
  const giveUp = () => reader.cancel().catch(() => {});
  const patience = setTimeout(giveUp, discardMsMax);
  try {
    let length = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > bytesMax) break;
    }
  } catch {
    // The sender is gone, so nobody waits for the answer either.
  } finally {
    clearTimeout(patience);
    await giveUp();
  }
}

/** One that does not say how long it is may be the largest, which is asked for once it is no small one. */
async function readCounted(request: Request, { maxBytes, advice, enter }: BodySize): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (length === 0) checkType(request);
      const wasSmall = length <= smallBodyBytes;
      length += part.value.length;
      if (length > maxBytes) throw tooLarge(maxBytes, advice);
      if (wasSmall && length > smallBodyBytes) await enter(maxBytes);
      chunks.push(part.value);
    }
  } finally {
    reader.releaseLock();
  }
  return Buffer.concat(chunks, length);
}

/**
 * The bytes of a body of one of these types, as they come, once there is room for them. Refused at once where the type or the
 * length is wrong by what the headers say, and while it is read where it turns out to be too large or ends early.
 */
export function streamBody(
  request: Request,
  size: BodySize,
  types: readonly string[],
): AsyncIterable<Uint8Array> {
  const { maxBytes, advice } = size;
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes, advice);
  if (declared === "0" || request.body === null)
    throw new AppError(
      "bad_json",
      `The body is missing. Send one with the header \`Content-Type: ${types[0]}\`.`,
    );
  checkType(request, types);
  const isCounted = declared === null || request.headers.has("transfer-encoding");
  return countBytes(request, request.body, size, isCounted ? null : Number(declared));
}

/** Of a body that does not say how long it is, `declared` is null: it may be the largest, once it is no small one. */
async function* countBytes(
  request: Request,
  body: ReadableStream<Uint8Array>,
  { maxBytes, advice, enter }: BodySize,
  declared: number | null,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let length = 0;
  try {
    if (declared !== null) await enter(declared);
    for (;;) {
      const part = await reader.read().catch((cause: unknown) => {
        throw endedEarly(cause);
      });
      if (part.done) return;
      const wasSmall = length <= smallBodyBytes;
      length += part.value.length;
      if (length > maxBytes) throw tooLarge(maxBytes, advice);
      if (declared === null && wasSmall && length > smallBodyBytes) await enter(maxBytes);
      yield part.value;
    }
  } finally {
    reader.releaseLock();
    await discardRest(request, maxBytes * discardedTimes);
  }
}

/** Types of bodies, as one calls them. */
const NAMES: Record<string, string> = {
  "application/json": "JSON",
  "text/csv": "CSV",
  "message/rfc822": "a mail message",
};

/** The first of the types is the one that is advised. */
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
  new AppError("bad_json", "The body ended early. Send as many bytes as Content-Length says.", { cause });

const tooLarge = (maxBytes: number, advice: string) =>
  new AppError(
    "too_large",
    `The body is larger than ${(maxBytes / 1024 / 1024).toLocaleString("en", { maximumFractionDigits: 1 })} MB. ${advice}`,
  );

/** Where the parser stumbled, from a message that may also quote the body. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return / at position \d+( \(line \d+ column \d+\))?/.exec(error.message)?.[0] ?? "";
}
