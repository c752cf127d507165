/** A header field as it came: its name in lower case, and its text, folded, one character per byte, without the final CRLF. */
export type RawField = { name: string; text: string };

/** Splits a header, one character per byte, into its fields. A line without a field name is a field without a name. */
export function splitFields(header: string): RawField[] {
  if (header === "") return [];
  return header
    .replace(/\r\n$/, "")
    .split(/\r\n(?![ \t])/)
    .map((text) => ({ name: /^([!-9;-~]+)[ \t]*:/.exec(text)?.[1]?.toLowerCase() ?? "", text }));
}

/** The value of a field: unfolded, trimmed, and decoded from UTF-8 (RFC 6532), but not from encoded words. */
export function readValue({ text }: RawField): string {
  const value = text
    .slice(text.indexOf(":") + 1)
    .replaceAll("\r\n", "")
    .trim();
  return Buffer.from(value, "latin1").toString("utf8");
}

/** The value of the first field with this lower-case name; null if there is none. */
export function findValue(fields: readonly RawField[], name: string): string | null {
  const field = fields.find((one) => one.name === name);
  return field ? readValue(field) : null;
}

/** The fields as a header, each with its CRLF. */
export const joinFields = (fields: readonly RawField[]): Buffer =>
  Buffer.from(fields.map(({ text }) => `${text}\r\n`).join(""), "latin1");

/** The header fields of a message and the position of its body. Without an empty line the whole message is the header. */
export function readHeader(bytes: Uint8Array): { fields: RawField[]; bodyStart: number } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 2).equals(CRLF)) return { fields: [], bodyStart: 2 };
  const end = buffer.indexOf("\r\n\r\n");
  const headerEnd = end === -1 ? buffer.length : end + 2;
  return {
    fields: splitFields(buffer.toString("latin1", 0, headerEnd)),
    bodyStart: end === -1 ? buffer.length : end + 4,
  };
}

const CRLF = Buffer.from("\r\n", "latin1");
