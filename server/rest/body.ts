import { AppError } from "#server/errors";

const depthMax = 32;
const keysMax = 1_000;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Reads a request's JSON body and refuses what no service should ever see: too many bytes (counted as they come, whatever
 * the length header claims), another type, invalid UTF-8, broken JSON, absurd nesting, and text that PostgreSQL cannot
 * hold. An empty body is `undefined`. Of a name that stands twice the last one counts, as JSON.parse has it.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return undefined;
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new AppError(
      "wrong_content_type",
      "Send the body as JSON with the header `Content-Type: application/json`.",
    );
  if (!/^(identity)?$/i.test(request.headers.get("content-encoding") ?? ""))
    throw new AppError(
      "wrong_content_type",
      "Send the body uncompressed: `Content-Encoding` is not supported.",
    );
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("bad_json", "The body is not valid UTF-8.", { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const where =
      cause instanceof Error
        ? / at position \d+( \(line \d+ column \d+\))?/.exec(cause.message)?.[0]
        : undefined;
    throw new AppError("bad_json", `The body is not valid JSON${where ?? ""}.`, { cause });
  }
  checkTree(value);
  return value;
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new AppError(
      "too_large",
      `The body is larger than ${Math.floor(maxBytes / 1_000_000)} MB. Send less in one request.`,
    );
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > maxBytes) {
      await reader.cancel();
      throw tooLarge();
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks, length);
}

/** Walks without recursion, so that nesting cannot exhaust the stack. */
function checkTree(root: unknown): void {
  const waiting: { value: unknown; field: string; depth: number }[] = [{ value: root, field: "", depth: 0 }];
  let keys = 0;
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const { value, field, depth } = node;
    if (typeof value === "string") checkText(field, value);
    else if (typeof value === "number" && !Number.isFinite(value))
      throw new AppError("invalid", `\`${field}\` is a number out of range.`);
    if (typeof value !== "object" || value === null) continue;
    if (depth >= depthMax)
      throw new AppError("invalid", `The body is nested deeper than ${depthMax} levels.`);
    if (Array.isArray(value)) {
      // A file as a list of byte values counts as one value: looking at each of its millions would be the attack.
      if (typeof value[0] === "number" && value.every((item) => typeof item === "number")) continue;
      for (const [index, item] of value.entries())
        waiting.push({ value: item, field: `${field}[${index}]`, depth: depth + 1 });
      keys += value.length;
    } else {
      for (const [key, item] of Object.entries(value)) {
        checkText(field === "" ? "a field name" : field, key);
        if (key === "__proto__") throw new AppError("invalid", "Unknown field `__proto__`.");
        waiting.push({ value: item, field: field === "" ? key : `${field}.${key}`, depth: depth + 1 });
        keys++;
      }
    }
    if (keys > keysMax * 10)
      throw new AppError("invalid", `The body has more than ${keysMax * 10} fields and items.`);
  }
}

function checkText(field: string, text: string): void {
  if (text.includes("\0")) throw new AppError("invalid", `\`${field}\` contains a NUL character.`);
  if (LONE_SURROGATE.test(text))
    throw new AppError("invalid", `\`${field}\` contains half of a surrogate pair.`);
}
