import { AppError } from "#server/errors";
import { checkTree, refuseCrowd } from "./tree";

// A byte order mark at the start is dropped, as RFC 8259 section 8.1 allows a reader to do.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a request's JSON body and refuses what no service should ever see: too many bytes (counted as they come, whatever
 * the length header claims), another type, invalid UTF-8, broken JSON, absurd nesting, and text that PostgreSQL cannot
 * hold. An empty body is `undefined`, whatever its type. Of a name that stands twice the last one counts.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes);
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

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  const length = declared === null ? null : Number(declared);
  if (length === 0) return new Uint8Array();
  if (length !== null && length > maxBytes) throw tooLarge(maxBytes);
  try {
    // HTTP itself holds a body to the length it declares; the fast way costs half of the other.
    const bytes =
      length === null || request.headers.has("transfer-encoding")
        ? await readCounted(request, maxBytes)
        : new Uint8Array(await request.arrayBuffer());
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
    if (bytes.byteLength > 0) checkType(request);
    return bytes;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw endedEarly(cause);
  }
}

async function readCounted(request: Request, maxBytes: number): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (length === 0) checkType(request);
    length += part.value.length;
    if (length > maxBytes) {
      await reader.cancel();
      throw tooLarge(maxBytes);
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks, length);
}

/**
 * The bytes of a body of another type, as they come. Refused at once where the type or the length is wrong by what the headers
 * say, and while it is read where it turns out to be too large or ends early.
 */
export function streamBody(request: Request, maxBytes: number, type: string): AsyncIterable<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  if (declared === "0" || request.body === null)
    throw new AppError(
      "bad_json",
      `The body is missing. Send one with the header \`Content-Type: ${type}\`.`,
    );
  checkType(request, type);
  return countBytes(request.body, maxBytes);
}

async function* countBytes(body: ReadableStream<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let length = 0;
  try {
    for (;;) {
      const part = await reader.read().catch((cause: unknown) => {
        throw endedEarly(cause);
      });
      if (part.done) return;
      length += part.value.length;
      if (length > maxBytes) throw tooLarge(maxBytes);
      yield part.value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function checkType(request: Request, type = "application/json"): void {
  const given = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (given !== type)
    throw new AppError(
      "wrong_content_type",
      `Send the body as ${type === "application/json" ? "JSON" : "CSV"} with the header \`Content-Type: ${type}\`.`,
    );
  if (!/^(identity)?$/i.test(request.headers.get("content-encoding") ?? ""))
    throw new AppError(
      "wrong_content_type",
      "Send the body uncompressed, without `Content-Encoding`: compressed bodies are not supported.",
    );
}

const endedEarly = (cause: unknown) =>
  new AppError("bad_json", "The body ended early. Send as many bytes as Content-Length says.", { cause });

const tooLarge = (maxBytes: number) =>
  new AppError(
    "too_large",
    `The body is larger than ${(maxBytes / 1024 / 1024).toLocaleString("en", { maximumFractionDigits: 1 })} MB. Send less in one request.`,
  );

/** Where the parser stumbled, from a message that may also quote the body. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return / at position \d+( \(line \d+ column \d+\))?/.exec(error.message)?.[0] ?? "";
}
