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
  return readPart(text, 0, { parts: partsMax });
}

/** The part itself and all parts inside it, in document order. */
export function* listParts(part: Part): Generator<Part> {
  yield part;
  for (const inner of part.parts) yield* listParts(inner);
}

/** Decodes the text of a part to Unicode, at most `charsMax` characters. */
export function decodeText({ fields, params, content }: Part, charsMax = 65_536): string {
  const encoding = findField(fields, "content-transfer-encoding")?.trim().toLowerCase();
  // Base64 is a third longer than its content, quoted-printable up to three times as long.
  const raw = content.slice(0, charsMax * 3);
  const bytes =
    encoding === "base64"
      ? Buffer.from(raw, "base64")
      : encoding === "quoted-printable"
        ? decodeQuotedPrintable(Buffer.from(raw, "latin1"))
        : Buffer.from(raw, "latin1");
  return decodeLeniently(bytes, params.get("charset")).replace(/\r\n?/g, "\n").slice(0, charsMax);
}

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
  const { type, params } = parseStructured(findField(fields, "content-type") ?? "text/plain");
  const boundary = params.get("boundary");
  const isSplit = type.startsWith("multipart/") && boundary !== undefined && depth < depthMax;
  const pieces = isSplit ? splitAt(content, boundary, budget.parts) : [];
  const parts: Part[] = [];
  for (const piece of pieces) if (budget.parts > 0) parts.push(readPart(piece, depth + 1, budget));
  return { type, params, fields, content, parts };
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
