const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/**
 * The relaxed canonical form of a body (RFC 6376 section 3.4.4): runs of whitespace become one space,
 * trailing whitespace and trailing empty lines are removed, and the last line ends in CRLF. A body without
 * content is empty.
 */
export function canonicalizeBody(body: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(body.length + 2);
  let to = 0;
  let lineStart = 0;
  let contentEnd = 0;
  let isBlankDue = false;
  const endLine = () => {
    const hasContent = to > lineStart;
    out[to++] = CR;
    out[to++] = LF;
    if (hasContent) contentEnd = to;
    lineStart = to;
    isBlankDue = false;
  };
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === SPACE || byte === TAB) isBlankDue = true;
    else if (byte === CR && body[at + 1] === LF) {
      endLine();
      at += 1;
    } else {
      if (isBlankDue) out[to++] = SPACE;
      isBlankDue = false;
      out[to++] = byte;
    }
  }
  if (to > lineStart) endLine();
  return out.subarray(0, contentEnd);
}

/** The relaxed canonical form of a header field (RFC 6376 section 3.4.2), without the final CRLF. */
export function canonicalizeField(field: string): string {
  const colon = field.indexOf(":");
  const value = field
    .slice(colon + 1)
    .replaceAll("\r\n", "")
    .replace(/[ \t]+/g, " ");
  return `${getFieldName(field)}:${value.replace(/^ | $/g, "")}`;
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
