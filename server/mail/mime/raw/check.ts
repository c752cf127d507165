import { LINE_OCTETS_MAX } from "../headers";
import { fieldsMax, findHeaderEnd, headerBytesMax, parseHeader } from "./fields";

const CR = 0x0d;
const LF = 0x0a;

/**
 * Validates the form of a message that another program wrote (RFC 5322 section 2.1 and 2.2): `null`, or a
 * sentence that says what is wrong. Lines end in CRLF and have at most 998 octets; there is no NUL; the
 * header consists of fields in ASCII or UTF-8.
 */
export function checkMessageForm(bytes: Uint8Array): string | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nul = buffer.indexOf(0);
  if (nul !== -1) return "The message contains a NUL byte. Encode binary content in base64.";
  const lineFault = findLineFault(buffer);
  if (lineFault) return lineFault;
  // Before the fields are split: a message without an empty line is one header.
  if (findHeaderEnd(buffer).headerEnd > headerBytesMax)
    return `The header is larger than ${headerBytesMax / 1024} KB.`;
  const { fields, bodyStart } = parseHeader(buffer);
  if (fields.length > fieldsMax)
    return `The header has ${fields.length} fields. A message has at most ${fieldsMax}.`;
  const header = decodeUtf8(buffer.subarray(0, bodyStart));
  if (header === null)
    return "The header contains bytes that are not UTF-8. Encode them as RFC 2047 requires.";
  const control = /[^\P{Cc}\t\r\n]/u.exec(header)?.[0];
  if (control !== undefined)
    return `The header contains the control character ${JSON.stringify(control)}. Remove it.`;
  const stray = fields.find(({ name }) => name === "");
  return stray
    ? `The header has a line without a field name: ${JSON.stringify(stray.text.slice(0, 60))}.`
    : null;
}

/** One pass over the bytes: a message can have as many lines as megabytes allow. */
function findLineFault(bytes: Buffer): string | null {
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte !== CR && byte !== LF && byte !== undefined) continue;
    if (byte === LF) return `Line ${line} ends in a bare LF. End each line with CRLF.`;
    if (byte === CR && bytes[at + 1] !== LF)
      return `Line ${line} contains a bare CR. End each line with CRLF.`;
    const octets = at - lineStart;
    if (octets > LINE_OCTETS_MAX)
      return `Line ${line} has ${octets} octets. A line has at most ${LINE_OCTETS_MAX}: encode the content in quoted-printable or base64.`;
    at += 1;
    line += 1;
    lineStart = at + 1;
  }
  return null;
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
