import {
  decodeLeniently,
  decodeQuotedPrintable,
  parseStructured,
  type StructuredValue,
} from "./content-type";
import { fieldsMax, findHeaderEnd, findValue, headerBytesMax, parseHeader, type RawField } from "./fields";

/** A part of a message, by its positions in the bytes of the message. */
export type RawPart = {
  fields: RawField[];
  headerStart: number;
  bodyStart: number;
  end: number;
  type: string;
  params: ReadonlyMap<string, string>;
  disposition: StructuredValue;
  /** The transfer encoding in lower case; "7bit" if it is not stated. */
  encoding: string;
  /** The parts of a multipart, or the one message in a `message/rfc822`. */
  parts: RawPart[];
  /**
   * The part is signed or encrypted, or belongs to an embedded message: its text is not that of the email.
   */
  isSealed: boolean;
};

/**
 * A message with more parts, with a part whose header exceeds its limits, or with too many lines that begin
 * like a boundary is not read: `parseParts` throws a RangeError.
 */
export const partsMax = 500;
/** Lines that begin like a boundary and are none. Each costs as much as a part that is not copied. */
const falseBoundariesMax = 10_000;
const depthMax = 20;

/**
 * Finds the parts of a message (RFC 2046) without copying them. A multipart without boundary lines, or nested
 * deeper than 20 levels, is one part. Takes linear time for each level.
 */
export function parseParts(bytes: Uint8Array): RawPart {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readPart(buffer, { from: 0, to: buffer.length, depth: 0, isSealed: false }, { left: partsMax });
}

/** The part itself and all parts inside it, in document order. */
export function* listParts(part: RawPart): Generator<RawPart> {
  yield part;
  for (const inner of part.parts) yield* listParts(inner);
}

/** The content of a part without its transfer encoding. */
export function decodePart(bytes: Uint8Array, { bodyStart, end, encoding }: RawPart): Buffer {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset + bodyStart, end - bodyStart);
  if (encoding === "base64") return Buffer.from(content.toString("latin1"), "base64");
  if (encoding === "quoted-printable") return decodeQuotedPrintable(content);
  return content;
}

/** The text of a part in Unicode. */
export const decodePartText = (bytes: Uint8Array, part: RawPart): string =>
  decodeLeniently(decodePart(bytes, part), part.params.get("charset"));

type Place = { from: number; to: number; depth: number; isSealed: boolean };

function readPart(buffer: Buffer, { from, to, depth, isSealed }: Place, budget: { left: number }): RawPart {
  if (budget.left-- <= 0) throw new RangeError(`The message has more than ${partsMax} parts.`);
  const bytes = buffer.subarray(from, to);
  if (findHeaderEnd(bytes).headerEnd > headerBytesMax)
    throw new RangeError(`A part of the message has a header larger than ${headerBytesMax / 1024} KB.`);
  const { fields, bodyStart } = parseHeader(bytes);
  if (fields.length > fieldsMax)
    throw new RangeError(`A part of the message has more than ${fieldsMax} header fields.`);
  const { type, params } = parseStructured(findValue(fields, "content-type") ?? "text/plain");
  const part: RawPart = {
    fields,
    headerStart: from,
    bodyStart: Math.min(from + bodyStart, to),
    end: to,
    type,
    params,
    disposition: parseStructured(findValue(fields, "content-disposition") ?? ""),
    encoding: findValue(fields, "content-transfer-encoding")?.toLowerCase() ?? "7bit",
    parts: [],
    isSealed,
  };
  if (depth >= depthMax) return part;
  const areInnerSealed = isSealed || /^(multipart\/(signed|encrypted)|message\/.*)$/.test(type);
  for (const place of placesIn(buffer, part))
    part.parts.push(readPart(buffer, { ...place, depth: depth + 1, isSealed: areInnerSealed }, budget));
  return part;
}

function placesIn(buffer: Buffer, { type, params, bodyStart, end, encoding }: RawPart) {
  const isEncoded = encoding === "base64" || encoding === "quoted-printable";
  if (isEncoded) return [];
  if (type === "message/rfc822" || type === "message/global") return [{ from: bodyStart, to: end }];
  const boundary = params.get("boundary") ?? "";
  if (!type.startsWith("multipart/") || boundary === "" || boundary.length > 200) return [];
  return splitAt(buffer.subarray(0, end), boundary, bodyStart);
}

/** The places between boundary lines. The closing boundary may be missing. */
function splitAt(buffer: Buffer, boundary: string, bodyStart: number): { from: number; to: number }[] {
  // Includes the line break, so that hyphens inside a long line never match.
  const delimiter = Buffer.from(`\r\n--${boundary}`, "utf8");
  const places: { from: number; to: number }[] = [];
  let from = -1;
  let falseBoundaries = 0;
  const isFirst = buffer.subarray(bodyStart, bodyStart + delimiter.length - 2).equals(delimiter.subarray(2));
  for (let at = isFirst ? bodyStart - 2 : buffer.indexOf(delimiter, bodyStart); at !== -1; ) {
    const lineEnd = buffer.indexOf("\r\n", at + delimiter.length);
    const rest = buffer
      .toString("latin1", at + delimiter.length, lineEnd === -1 ? undefined : lineEnd)
      .trim();
    const isBoundary = rest === "" || rest === "--";
    if (!isBoundary && ++falseBoundaries > falseBoundariesMax)
      throw new RangeError(
        `The message has more than ${falseBoundariesMax} lines that begin like its boundary. Use another boundary.`,
      );
    // The line break before a boundary belongs to the boundary.
    if (isBoundary && from !== -1) places.push({ from, to: Math.max(from, at) });
    if (isBoundary) from = rest === "--" || lineEnd === -1 ? -1 : lineEnd + 2;
    if (lineEnd === -1 || (isBoundary && rest === "--") || places.length > partsMax) return places;
    at = buffer.indexOf(delimiter, lineEnd);
  }
  if (from !== -1) places.push({ from, to: buffer.length });
  return places;
}
