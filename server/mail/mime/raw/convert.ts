import { encodeBytes } from "../encode-body";
import { decodeCharset } from "./content-type";
import { joinFields, type RawField } from "./fields";
import { decodePart, listParts, parseParts, type RawPart } from "./parts";

/** Bytes of a message to replace; positions as in `RawPart`. */
type Edit = { from: number; to: number; bytes: Buffer };

const EIGHT_BIT = /[^\0-\x7f]/;
const CRLF = Buffer.from("\r\n", "latin1");

/** Whether the bytes contain others than ASCII. */
export const hasEightBit = (bytes: Uint8Array): boolean =>
  EIGHT_BIT.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"));

/**
 * The message with 8-bit content in quoted-printable or base64, for servers without 8BITMIME (RFC 6152
 * section 3). All other bytes stay as they are, also 8-bit header fields, which need SMTPUTF8. The same
 * message gives the same bytes.
 */
export function toSevenBit(bytes: Uint8Array): Uint8Array {
  const root = parseParts(bytes);
  const edits: Edit[] = [];
  for (const part of listParts(root)) {
    const content = bytes.subarray(part.bodyStart, part.end);
    const isDeclared = part.encoding === "8bit" || part.encoding === "binary";
    if (part.parts.length > 0) {
      // The encoding of a container is the widest of its parts.
      if (isDeclared) edits.push(headerEdit(part, { "content-transfer-encoding": "7bit" }));
    } else if (part.encoding !== "base64" && part.encoding !== "quoted-printable" && hasEightBit(content)) {
      const encoded = encodeBytes(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
      edits.push(headerEdit(part, { "content-transfer-encoding": encoded.encoding }));
      edits.push({ from: part.bodyStart, to: part.end, bytes: encoded.bytes });
    }
  }
  return applyEdits(bytes, edits);
}

/**
 * The message with `change` applied to its HTML and text bodies. A changed body is in UTF-8; one that
 * `change` returns unchanged keeps its bytes. Attachments, embedded messages, signed content, and bodies that
 * cannot be decoded are not changed.
 */
export function rewriteBodies(
  bytes: Uint8Array,
  change: (body: string, as: "html" | "text") => string,
): Uint8Array {
  const edits: Edit[] = [];
  for (const part of listParts(parseParts(bytes))) {
    if (!isBody(part, "text/html") && !isBody(part, "text/plain")) continue;
    const body = decodeBody(bytes, part);
    const changed = body === null ? null : change(body, part.type === "text/html" ? "html" : "text");
    if (changed === null || changed === body) continue;
    const encoded = encodeBytes(Buffer.from(changed.replace(/\r\n|\r|\n/g, "\r\n"), "utf8"));
    edits.push(
      headerEdit(part, {
        "content-type": `${part.type}; charset=utf-8`,
        "content-transfer-encoding": encoded.encoding,
      }),
    );
    edits.push({ from: part.bodyStart, to: part.end, bytes: encoded.bytes });
  }
  return applyEdits(bytes, edits);
}

/** Null if the character set is unknown or the content is not in it: a change would lose characters. */
function decodeBody(bytes: Uint8Array, part: RawPart): string | null {
  try {
    return decodeCharset(decodePart(bytes, part), part.params.get("charset") ?? "utf-8", { fatal: true });
  } catch {
    return null;
  }
}

/**
 * Whether this part is a body of the email itself, of this type. One with a file name is a file, also if it
 * is displayed inline.
 */
export const isBody = (
  { type, params, disposition, isSealed }: RawPart,
  wanted: "text/html" | "text/plain",
): boolean =>
  type === wanted &&
  !isSealed &&
  disposition.type !== "attachment" &&
  !hasParameter(disposition.params, "filename") &&
  !hasParameter(params, "name");

/** Whether there is a parameter with this name, in plain form or in that of RFC 2231. */
const hasParameter = (params: ReadonlyMap<string, string>, wanted: string): boolean =>
  [...params.keys()].some((name) => name === wanted || name.startsWith(`${wanted}*`));

const NAMES: Record<string, string> = {
  "content-type": "Content-Type",
  "content-transfer-encoding": "Content-Transfer-Encoding",
};

/** Replaces fields of a part in their place; appends those that it does not have. */
function headerEdit({ fields, headerStart, bodyStart }: RawPart, values: Record<string, string>): Edit {
  const fieldOf = (name: string): RawField => ({ name, text: `${NAMES[name]}: ${values[name]}` });
  const replaced = fields.map((field) => (field.name in values ? fieldOf(field.name) : field));
  const missing = Object.keys(values).filter((name) => !fields.some((field) => field.name === name));
  const header = joinFields([...replaced, ...missing.map(fieldOf)]);
  return { from: headerStart, to: bodyStart, bytes: Buffer.concat([header, CRLF]) };
}

function applyEdits(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  if (edits.length === 0) return bytes;
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const edit of edits) {
    pieces.push(bytes.subarray(at, edit.from), edit.bytes);
    at = edit.to;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}
