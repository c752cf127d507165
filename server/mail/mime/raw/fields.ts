/**
 * A header field as it came: its name in lower case, and its text, folded, one character per byte, without
 * the final CRLF.
 */
export type RawField = { name: string; text: string };

/** A header with more bytes or fields is rejected, so that splitting it takes little time and memory. */
export const headerBytesMax = 256 * 1024;
export const fieldsMax = 1_000;

/**
 * Splits a header, one character per byte, into its fields. A line without a field name is a field without a
 * name.
 */
export function splitFields(header: string): RawField[] {
  if (header === "") return [];
  return header
    .replace(/\r\n$/, "")
    .split(/\r\n(?![ \t])/)
    .map((text) => ({ name: /^([!-9;-~]+)[ \t]*:/.exec(text)?.[1]?.toLowerCase() ?? "", text }));
}

/** The value of a field: unfolded, trimmed, and decoded from UTF-8 (RFC 6532), but not from encoded words. */
export function parseValue({ text }: RawField): string {
  const value = text
    .slice(text.indexOf(":") + 1)
    .replaceAll("\r\n", "")
    .trim();
  return Buffer.from(value, "latin1").toString("utf8");
}

/** The value of the first field with this lower-case name; null if there is none. */
export function findValue(fields: readonly RawField[], name: string): string | null {
  const field = fields.find((one) => one.name === name);
  return field ? parseValue(field) : null;
}

/** The fields as a header, each with its CRLF. */
export const joinFields = (fields: readonly RawField[]): Buffer =>
  Buffer.from(fields.map(({ text }) => `${text}\r\n`).join(""), "latin1");

/** The positions after the last field and of the body. Without an empty line everything is the header. */
export function findHeaderEnd(bytes: Uint8Array): { headerEnd: number; bodyStart: number } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer[0] === 0x0d && buffer[1] === 0x0a) return { headerEnd: 0, bodyStart: 2 };
  const end = buffer.indexOf("\r\n\r\n");
  return end === -1
    ? { headerEnd: buffer.length, bodyStart: buffer.length }
    : { headerEnd: end + 2, bodyStart: end + 4 };
}

/** The header fields of a message and the position of its body. */
export function parseHeader(bytes: Uint8Array): { fields: RawField[]; bodyStart: number } {
  const { headerEnd, bodyStart } = findHeaderEnd(bytes);
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, headerEnd).toString("latin1");
  return { fields: splitFields(header), bodyStart };
}
