import { decode } from "libmime/lib/charset.js";

/** A structured field: its first word in lower case, and its parameters by lower-case name. */
export type StructuredValue = { type: string; params: Map<string, string> };

/**
 * Parses the value of `Content-Type` or `Content-Disposition` (RFC 2045 section 5.1). The first of equal
 * parameters counts.
 */
export function parseStructured(value: string): StructuredValue {
  const params = new Map<string, string>();
  const [type = "", ...rest] = splitUnquoted(value.slice(0, 2_000));
  for (const part of rest) {
    const equals = part.indexOf("=");
    if (equals < 1) continue;
    const name = part.slice(0, equals).trim().toLowerCase();
    const raw = part.slice(equals + 1).trim();
    const unquoted = raw.startsWith('"') ? raw.slice(1).replace(/"$/, "").replace(/\\(.)/g, "$1") : raw;
    if (!params.has(name)) params.set(name, unquoted);
  }
  return { type: type.trim().toLowerCase(), params };
}

/** Splits at semicolons outside quotes. */
function splitUnquoted(value: string): string[] {
  const parts: string[] = [];
  let isQuoted = false;
  let from = 0;
  for (let at = 0; at < value.length; at += 1) {
    const char = value[at];
    if (char === "\\" && isQuoted) at += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === ";" && !isQuoted) {
      parts.push(value.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(value.slice(from));
  return parts;
}

const EQUALS = 0x3d;
const LF = 0x0a;
/** Blanks that may stand between an equals sign and the end of its line. */
const softBlanksMax = 80;

/** Decodes quoted-printable (RFC 2045 section 6.7) in one pass. Invalid escapes stay as they are. */
export function decodeQuotedPrintable(bytes: Uint8Array): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte !== EQUALS) {
      decoded[length++] = byte;
      continue;
    }
    const value = hexValue(bytes[at + 1]) * 16 + hexValue(bytes[at + 2]);
    const lineEnd = value >= 0 ? -1 : findSoftBreak(bytes, at + 1);
    decoded[length] = value >= 0 ? value : EQUALS;
    if (lineEnd === -1) length += 1;
    at = value >= 0 ? at + 2 : lineEnd === -1 ? at : lineEnd;
  }
  return decoded.subarray(0, length);
}

/** 0 to 15; far below 0 for any other byte. */
function hexValue(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1_000;
}

/** The position of the LF that ends the line, if only blanks stand before it; -1 otherwise. */
function findSoftBreak(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((bytes[at] === 0x20 || bytes[at] === 0x09) && at - from < softBlanksMax) at += 1;
  if (bytes[at] === 0x0d && bytes[at + 1] === LF) at += 1;
  return bytes[at] === LF ? at : -1;
}

/**
 * Decodes bytes in a character set. Throws if the set is unknown or, with `fatal`, if the bytes are not in
 * it. windows-1252, which the names of Latin-1 and ASCII mean too, is decoded by a library: Node.js 20 takes
 * it for Latin-1.
 */
export function decodeCharset(bytes: Uint8Array, charset: string, options?: { fatal: boolean }): string {
  const decoder = new TextDecoder(charset, options);
  if (decoder.encoding !== "windows-1252") return decoder.decode(bytes);
  return decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), "windows-1252");
}

/** Decodes bytes in a character set, or in UTF-8 if it is missing or unknown. */
export function decodeLeniently(bytes: Uint8Array, charset: string | undefined): string {
  try {
    return decodeCharset(bytes, charset ?? "utf-8");
  } catch {
    return decodeCharset(bytes, "utf-8");
  }
}
