/**
 * A body part that any server can transfer: 7-bit bytes, CRLF only, lines of at most 76 characters. It
 * decodes to exactly the text with CRLF line ends; no final line end is added.
 */
export type EncodedBody = { encoding: "7bit" | "quoted-printable" | "base64"; bytes: Buffer };

const LINE_MAX = 76;
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const DOT = 0x2e;
const EQUALS = 0x3d;
const CAPITAL_F = 0x46;

/** 1 for each byte that quoted-printable must escape at any position in a line (RFC 2045 section 6.7). */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === TAB || (byte >= SPACE && byte <= 0x7e && byte !== EQUALS) ? 0 : 1,
);
const HEX = Buffer.from("0123456789ABCDEF", "latin1");

/**
 * Encodes text as UTF-8 in the shortest safe transfer encoding: 7bit for ASCII with short lines, else
 * quoted-printable or base64, whichever is smaller. CR, LF and CRLF each count as a line end. One pass
 * selects the encoding, one writes it.
 */
export const encodeBody = (text: string): EncodedBody =>
  encodeBytes(Buffer.from(normaliseLines(text), "utf8"));

/** The same for bytes in any character set whose lines end in CRLF. */
export function encodeBytes(bytes: Buffer): EncodedBody {
  const { escapes, isPlain } = surveyBody(bytes);
  if (isPlain) return { encoding: "7bit", bytes };
  const quotedSize = bytes.length + 2 * escapes;
  const quotedTotal = quotedSize + 3 * (quotedSize / (LINE_MAX - 1));
  const base64Total = (bytes.length / 3) * 4 * (1 + 2 / LINE_MAX);
  if (quotedTotal <= base64Total)
    return { encoding: "quoted-printable", bytes: quotePrintable(bytes, quotedSize) };
  return { encoding: "base64", bytes: wrapBase64(bytes) };
}

function normaliseLines(text: string): string {
  // Most texts have no CR, and a fixed string is replaced without an expression.
  if (!text.includes("\r")) return text.replaceAll("\n", "\r\n");
  return text.replace(/\r\n|\r|\n/g, "\r\n");
}

/**
 * Counts the bytes that quoted-printable must escape. `isPlain`: the bytes need no encoding, because they are
 * printable ASCII in lines of at most 76 characters and servers do not alter any line.
 */
function surveyBody(bytes: Buffer): { escapes: number; isPlain: boolean } {
  let escapes = 0;
  let isPlain = true;
  let lineStart = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    at = skipPlain(bytes, at, bytes.length);
    const byte = at < bytes.length ? bytes[at] : CR;
    if (byte === CR && endsLineAt(bytes, at)) {
      const isFragile = at > lineStart && (isBlank(bytes[at - 1]) || isMangled(bytes, lineStart));
      // Both ends of a line may need an escape.
      if (isFragile) escapes += 2;
      if (isFragile || at - lineStart > LINE_MAX) isPlain = false;
      at += 1;
      lineStart = at + 1;
    } else {
      escapes += 1;
      if (byte !== EQUALS) isPlain = false;
    }
  }
  return { escapes, isPlain };
}

/**
 * Quoted-printable of CRLF-normalised bytes. `quotedSize` bounds their size with every escape but no soft
 * line break.
 */
function quotePrintable(bytes: Buffer, quotedSize: number): Buffer {
  // An escape is never split over two lines, so a soft line break comes after at least 73 bytes. It needs
  // three bytes, and the next byte may need an escape with two more.
  const out = Buffer.allocUnsafe(quotedSize + 5 * Math.ceil(quotedSize / 73));
  let to = 0;
  let column = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    // Nearly all bytes are copied in runs. The rules below handle the first and last column of a line, and
    // whitespace at the end of a run.
    if (column > 0 && column < LINE_MAX - 1) {
      let end = skipPlain(bytes, at, Math.min(bytes.length, at + LINE_MAX - 1 - column));
      while (end > at && isBlank(bytes[end - 1])) end -= 1;
      bytes.copy(out, to, at, end);
      to += end - at;
      column += end - at;
      at = end;
      if (at === bytes.length) break;
    }
    const byte = bytes[at] ?? 0;
    if (byte === CR && endsLineAt(bytes, at)) {
      out[to++] = CR;
      out[to++] = LF;
      at += 1;
      column = 0;
      continue;
    }
    const endsLine = endsLineAt(bytes, at + 1);
    let isEscaped = ESCAPED[byte] === 1 || (endsLine && isBlank(byte));
    if (column + (isEscaped ? 3 : 1) > (endsLine ? LINE_MAX : LINE_MAX - 1)) {
      out[to++] = EQUALS;
      out[to++] = CR;
      out[to++] = LF;
      column = 0;
    }
    // This applies to transferred lines: a soft line break also starts one.
    if (column === 0 && isMangled(bytes, at)) isEscaped = true;
    if (isEscaped) {
      out[to++] = EQUALS;
      out[to++] = HEX[byte >> 4] ?? 0;
      out[to++] = HEX[byte & 15] ?? 0;
    } else out[to++] = byte;
    column += isEscaped ? 3 : 1;
  }
  return out.subarray(0, to);
}

/** The first position of a byte that must be escaped, or `end`. */
function skipPlain(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && ESCAPED[bytes[at] as number] === 0) at += 1;
  return at;
}

/** Whether a line ends at this position: at a CRLF or at the end of the body. */
function endsLineAt(bytes: Buffer, at: number): boolean {
  return at >= bytes.length || (bytes[at] === CR && bytes[at + 1] === LF);
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

/** Whether servers may alter this line in transit: a single dot, or a line that starts with "From ". */
function isMangled(bytes: Buffer, lineStart: number): boolean {
  const first = bytes[lineStart];
  if (first === DOT) return endsLineAt(bytes, lineStart + 1);
  return first === CAPITAL_F && bytes.toString("latin1", lineStart, lineStart + 5) === "From ";
}

/** Base64 in lines of 76 characters, without a final line end. */
export function wrapBase64(bytes: Buffer): Buffer {
  const text = Buffer.from(bytes.toString("base64"), "latin1");
  const breaks = Math.max(0, Math.ceil(text.length / LINE_MAX) - 1);
  const out = Buffer.allocUnsafe(text.length + 2 * breaks);
  let to = 0;
  for (let at = 0; at < text.length; at += LINE_MAX) {
    if (at > 0) {
      out[to++] = CR;
      out[to++] = LF;
    }
    to += text.copy(out, to, at, at + LINE_MAX);
  }
  return out;
}
