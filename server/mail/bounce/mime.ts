import libmime from "libmime";
import { decodeLeniently, decodeQuotedPrintable, parseStructured } from "../mime/raw/content-type";
import { type Field, findField, parseFields } from "./fields";

/**
 * A part of a message. `content` is undecoded, one character per byte; `parts` are the parts of a multipart.
 */
export type Part = {
  /** In lower case: `text/plain`. */
  type: string;
  /** Parameters of the content type, by lower-case name. */
  params: ReadonlyMap<string, string>;
  fields: Field[];
  content: string;
  parts: Part[];
};

/** Bytes of a message that are read. Later bytes belong to the body or attachments of the returned email. */
export const readBytesMax = 1024 * 1024;

/** Reads a whole message and returns its first MB. Rejects if the message is incomplete. */
export async function readBeginning(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (length < readBytesMax) chunks.push(chunk.subarray(0, readBytesMax - length));
    length += chunk.length;
  }
  return Buffer.concat(chunks);
}

const depthMax = 8;
const partsMax = 60;
/** Lines that begin like a boundary and are none. After them, a part stays unsplit. */
const falseBoundariesMax = 1_000;

/**
 * Splits a message into its parts (RFC 2045, RFC 2046). Accepts any input: a part that is malformed, nested
 * too deeply or above the part limit stays unsplit. Reads each byte of the first MB at most `depthMax` times.
 */
export function parseMessage(bytes: Uint8Array): Part {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, readBytesMax))
    .toString("latin1")
    .replace(/\r\n?/g, "\n");
  return readPart(text.replace(/^\s{1,1000}/, ""), 0, { parts: partsMax });
}

/** The parts of an embedded email (`message/rfc822`), which `parseMessage` leaves unsplit. */
export const parseEmbedded = (part: Part): Part =>
  readPart(decodeText(part, readBytesMax).replace(/^\n+/, ""), 0, { parts: partsMax });

/** The part itself and all parts inside it, in document order. */
export function* listParts(part: Part): Generator<Part> {
  yield part;
  for (const inner of part.parts) yield* listParts(inner);
}

/** Decodes the text of a part to Unicode, at most `charsMax` characters. */
export function decodeText(part: Part, charsMax = 65_536): string {
  const bytes = decodeBytes(part, charsMax);
  return decodeLeniently(bytes, charsetOf(bytes, part.params.get("charset")))
    .replace(/\r\n?/g, "\n")
    .slice(0, charsMax);
}

/** Decodes the content of a part, at least its first `bytesMax` bytes. */
export function decodeBytes({ fields, content }: Part, bytesMax = readBytesMax): Buffer {
  const encoding = findField(fields, "content-transfer-encoding")?.trim().toLowerCase();
  // Base64 is a third longer than its content, quoted-printable up to three times as long.
  const raw = content.slice(0, bytesMax * 3);
  if (encoding === "base64") return Buffer.from(raw, "base64");
  const bytes = Buffer.from(raw, "latin1");
  return encoding === "quoted-printable" ? decodeQuotedPrintable(bytes) : bytes;
}

/** Japanese servers use ISO-2022-JP without declaring it, or declare it for a text that is in UTF-8. */
function charsetOf(bytes: Buffer, declared: string | undefined): string | undefined {
  if (bytes.includes("\x1b$B") || bytes.includes("\x1b$@")) return "iso-2022-jp";
  const is8Bit = bytes.some((byte) => byte > 0x7f);
  return is8Bit && declared?.toLowerCase() === "iso-2022-jp" ? "utf-8" : declared;
}

/** Decodes the value of a field: encoded words (RFC 2047), and bytes in UTF-8. */
export const decodeValue = (value: string): string =>
  libmime.decodeWords(decodeLeniently(Buffer.from(value.slice(0, 1_000), "latin1"), "utf-8"));

/**
 * The header fields of an embedded email (`message/rfc822`) or of an embedded header (`text/rfc822-headers`).
 */
export function parseInnerFields(part: Part): Field[] {
  const text = decodeText(part, 131_072).replace(/^\n+/, "");
  const end = text.indexOf("\n\n");
  return parseFields(end === -1 ? text : text.slice(0, end));
}

function readPart(text: string, depth: number, budget: { parts: number }): Part {
  budget.parts -= 1;
  const isBare = text.startsWith("\n");
  const end = isBare ? 0 : text.indexOf("\n\n");
  const fields = isBare ? [] : parseFields(end === -1 ? text : text.slice(0, end));
  const content = isBare ? text.slice(1) : end === -1 ? "" : text.slice(end + 2);
  const declared = findField(fields, "content-type");
  const { type: value, params } = parseStructured(declared ?? "text/plain");
  // Some servers leave out the semicolon before a parameter.
  const type = value.split(/\s/, 1)[0] ?? "";
  const isMultipart = type.startsWith("multipart/") && depth < depthMax;
  const stated = isMultipart ? splitAt(content, params.get("boundary") ?? "", budget.parts) : [];
  // Some servers send a report without the fields of its header that say how it is divided.
  const isUnstated = stated.length === 0 && (isMultipart || (declared === null && depth === 0));
  const pieces = isUnstated ? splitAt(content, findBoundary(content), budget.parts) : stated;
  const parts: Part[] = [];
  for (const piece of pieces) if (budget.parts > 0) parts.push(readPart(piece, depth + 1, budget));
  return { type, params, fields, content, parts };
}

/**
 * A boundary that no field declares: a line near the start that occurs again before the header of a part.
 * Empty if there is none.
 */
function findBoundary(content: string): string {
  const found = /^(?:[^\n]{0,200}\n){0,4}?--([^\n]{1,199})\n/.exec(content)?.[1]?.trimEnd() ?? "";
  const isUsed = ["Content-", "content-"].some((field) => content.includes(`--${found}\n${field}`));
  return isUsed ? found : "";
}

/** The texts between boundary lines. The closing boundary may be missing. */
function splitAt(content: string, boundary: string, limit: number): string[] {
  if (boundary === "" || boundary.length > 200) return [];
  const delimiter = `\n--${boundary}`;
  const text = `\n${content}`;
  const pieces: string[] = [];
  let from = -1;
  let falseBoundaries = 0;
  for (let at = text.indexOf(delimiter); at !== -1 && pieces.length <= limit; ) {
    const after = at + delimiter.length;
    const lineEnd = text.indexOf("\n", after);
    const rest = text.slice(after, lineEnd === -1 ? undefined : lineEnd).trim();
    const isBoundary = rest === "" || rest === "--";
    if (!isBoundary && ++falseBoundaries > falseBoundariesMax) break;
    if (isBoundary && from !== -1) pieces.push(text.slice(from, at));
    if (rest === "--" || lineEnd === -1) return pieces;
    // A line that does not match may contain a longer boundary with this prefix.
    if (isBoundary) from = lineEnd + 1;
    at = text.indexOf(delimiter, lineEnd);
  }
  if (from !== -1) pieces.push(text.slice(from));
  return pieces;
}
