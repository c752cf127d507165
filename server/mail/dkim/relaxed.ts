const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/**
 * A body in the relaxed canonical form of RFC 6376 section 3.4.4: runs of blanks are one space, none stands at a line's
 * end, no empty line at the end of all, and the last line ends in CRLF. A body without any content is empty.
 */
export function relaxBody(body: Uint8Array): Buffer {
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

/** A header field, without CRLF at its end, in the relaxed canonical form of RFC 6376 section 3.4.2. */
export function relaxField(field: string): string {
  const colon = field.indexOf(":");
  const value = field
    .slice(colon + 1)
    .replaceAll("\r\n", "")
    .replace(/[ \t]+/g, " ");
  return `${nameOfField(field)}:${value.replace(/^ | $/g, "")}`;
}

/** The name of a header field in lower case. */
export const nameOfField = (field: string): string =>
  field.slice(0, field.indexOf(":")).trimEnd().toLowerCase();

/** A message in its parts: header fields from top to bottom, one character a byte and folded as they are, and the body. */
export function readParts(bytes: Uint8Array): { fields: string[]; body: Buffer } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.indexOf("\r\n\r\n");
  if (end === -1) throw new RangeError("a message without an empty line after its header");
  const fields = buffer.toString("latin1", 0, end).split(/\r\n(?![ \t])/);
  return { fields, body: buffer.subarray(end + 4) };
}
