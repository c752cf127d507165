const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const CRLF = Buffer.from("\r\n", "latin1");

/**
 * The relaxed canonical form of a body (RFC 6376 section 3.4.4): runs of whitespace become one space,
 * trailing whitespace and trailing empty lines are removed, and the last line ends in CRLF. A body without
 * content is empty.
 */
export function canonicalizeBody(body: Uint8Array): Buffer {
  const lines = withoutExtraBlanks(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  let end = lines.length;
  while (end >= 2 && lines[end - 2] === CR && lines[end - 1] === LF) end -= 2;
  if (end === 0) return lines.subarray(0, 0);
  return end < lines.length ? lines.subarray(0, end + 2) : Buffer.concat([lines, CRLF]);
}

/** The body with single spaces between words and none at line ends. Most bodies need no change or copy. */
function withoutExtraBlanks(body: Buffer): Buffer {
  const unchanged = findExtraBlank(body);
  if (unchanged === body.length) return body;
  const out = Buffer.allocUnsafe(body.length);
  let to = body.copy(out, 0, 0, unchanged);
  let isBlankDue = false;
  for (let at = unchanged; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === SPACE || byte === TAB) isBlankDue = true;
    else {
      if (isBlankDue && !endsLineAt(body, at)) out[to++] = SPACE;
      isBlankDue = false;
      out[to++] = byte;
    }
  }
  return out.subarray(0, to);
}

/** Position of the first blank that the canonical form changes, or the length of the body. */
function findExtraBlank(body: Buffer): number {
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte > SPACE) continue;
    if (byte === TAB) return at;
    const next = body[at + 1] ?? CR;
    if (byte === SPACE && next <= SPACE && (next === SPACE || next === TAB || endsLineAt(body, at + 1)))
      return at;
  }
  return body.length;
}

/** Whether a line ends at this position: at a CRLF or at the end of the body. */
const endsLineAt = (body: Buffer, at: number): boolean =>
  at >= body.length || (body[at] === CR && body[at + 1] === LF);

/** The relaxed canonical form of a header field (RFC 6376 section 3.4.2), without the final CRLF. */
export function canonicalizeField(field: string): string {
  const colon = field.indexOf(":");
  const value = field
    .slice(colon + 1)
    .replaceAll("\r\n", "")
    .replace(/[ \t]{2,}|\t/g, " ");
  const end = value.endsWith(" ") ? value.length - 1 : value.length;
  return `${getFieldName(field)}:${value.slice(value.startsWith(" ") ? 1 : 0, end)}`;
}

/** The name of a header field in lower case. */
export const getFieldName = (field: string): string =>
  field.slice(0, field.indexOf(":")).trimEnd().toLowerCase();

/**
 * Splits a message into header fields, top to bottom, still folded and with one character per byte, and the
 * body.
 */
export function splitMessage(bytes: Uint8Array): { fields: string[]; body: Buffer } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.indexOf("\r\n\r\n");
  if (end === -1) throw new RangeError("The message has no empty line after its header.");
  const fields = buffer.toString("latin1", 0, end).split(/\r\n(?![ \t])/);
  return { fields, body: buffer.subarray(end + 4) };
}
