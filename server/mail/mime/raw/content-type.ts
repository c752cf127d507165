/** A structured field: its first word in lower case, and its parameters by lower-case name. */
export type StructuredValue = { type: string; params: Map<string, string> };

/**
 * Parses the value of `Content-Type` or `Content-Disposition` (RFC 2045 section 5.1). The first of equal
 * parameters counts.
 */
export function readStructured(value: string): StructuredValue {
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

/** Decodes quoted-printable (RFC 2045 section 6.7) to one character per byte. */
export const decodeQuotedPrintable = (text: string): string =>
  text
    .replace(/=[ \t]{0,80}\r?\n/g, "")
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** A decoder of this character set; of UTF-8 if the set is missing or unknown. */
export function createDecoder(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? "utf-8");
  } catch {
    return new TextDecoder("utf-8");
  }
}
