/**
 * A body part made fit for any server: 7-bit bytes, CRLF only, no line above 76 characters. Decodes to exactly the text
 * with CRLF line ends, and so ends with one only where the text does.
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

/** 1 for each byte that quoted-printable must escape anywhere in a line (RFC 2045 section 6.7). */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === TAB || (byte >= SPACE && byte <= 0x7e && byte !== EQUALS) ? 0 : 1,
);
const HEX = Buffer.from("0123456789ABCDEF", "latin1");

/** 1 for each byte that stands for itself wherever it is within a line, blanks at its end and its first byte aside. */
const PLAIN = Uint8Array.from(ESCAPED, (escaped, byte) =>
  escaped === 1 || byte === TAB || byte === SPACE ? 0 : 1,
);

/**
 * Encodes text as UTF-8 in the cheapest encoding that survives every hop: as it is when it is short-lined ASCII, else
 * quoted-printable or base64, whichever is smaller. Any of CR, LF and CRLF is a line end. One pass to choose, one to write.
 */
export function encodeBody(text: string): EncodedBody {
  const bytes = Buffer.from(normaliseLines(text), "utf8");
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
  if (!text.includes("\n") && !text.includes("\r")) return text;
  return text.replace(/\r\n|\r|\n/g, "\r\n");
}

/**
 * Counts what quoted-printable would escape, and tells whether the bytes may go out untouched: printable ASCII in
 * lines of at most 76, none of them fragile.
 */
function surveyBody(bytes: Buffer): { escapes: number; isPlain: boolean } {
  let escapes = 0;
  let isPlain = true;
  let lineStart = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    const byte = at < bytes.length ? (bytes[at] ?? CR) : CR;
    if (PLAIN[byte] === 1) continue;
    if (byte === CR && endsLineAt(bytes, at)) {
      const isFragile = at > lineStart && (isBlank(bytes[at - 1]) || isMangled(bytes, lineStart));
      // Both ends of a line may need an escape of their own.
      if (isFragile) escapes += 2;
      if (isFragile || at - lineStart > LINE_MAX) isPlain = false;
      at += 1;
      lineStart = at + 1;
    } else if (ESCAPED[byte] === 1) {
      escapes += 1;
      if (byte !== EQUALS) isPlain = false;
    }
  }
  return { escapes, isPlain };
}

/** Quoted-printable of CRLF-normalised bytes. `quotedSize` bounds their size with every escape but no soft line break. */
function quotePrintable(bytes: Buffer, quotedSize: number): Buffer {
  // An escape never straddles two lines, so a soft break comes at the earliest after 73 bytes. It takes three itself,
  // and may force an escape of two more upon what follows.
  const out = Buffer.allocUnsafe(quotedSize + 5 * Math.ceil(quotedSize / 73));
  let to = 0;
  let column = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    // Nearly all bytes are such. The last column is left to the rules below.
    if (PLAIN[byte] === 1 && column > 0 && column < LINE_MAX - 1) {
      out[to++] = byte;
      column += 1;
      continue;
    }
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
    // What counts is the line on the wire: a soft break begins one as well.
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

/** Whether a line ends right before this position: at its CRLF, or at the end of all. */
function endsLineAt(bytes: Buffer, at: number): boolean {
  return at >= bytes.length || (bytes[at] === CR && bytes[at + 1] === LF);
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

/** Lines that mailboxes and gateways alter on the way: a lone dot, and one that begins with "From ". */
function isMangled(bytes: Buffer, lineStart: number): boolean {
  const first = bytes[lineStart];
  if (first === DOT) return endsLineAt(bytes, lineStart + 1);
  return first === CAPITAL_F && bytes.toString("latin1", lineStart, lineStart + 5) === "From ";
}

function wrapBase64(bytes: Buffer): Buffer {
  const text = bytes.toString("base64");
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += LINE_MAX) lines.push(text.slice(at, at + LINE_MAX));
  return Buffer.from(lines.join("\r\n"), "latin1");
}
