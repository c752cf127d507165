const NON_BASE64_CHARACTER = /[^A-Za-z0-9+/]/;
const NON_BASE64URL_CHARACTER = /[^A-Za-z0-9_-]/;
/** The start of a `data:` URI with base64 (RFC 2397), with a type and parameters or without. */
const DATA_URI = /^data:[^,;\s]{0,200}(?:;[^,;\s]{1,200}){0,5};base64,/i;
const dataUriCharsMax = 2_000;
/** Base64 is wrapped in lines of some length; words of a text are shorter and differ. */
const groupCharsMin = 16;

/**
 * Whether the text is base64 or base64url (RFC 4648 section 4 and 5), padded or not. Searches for the first
 * character outside the alphabet: an expression that matches the whole text would need a stack as deep as the
 * file is long.
 */
function isBase64(text: string): boolean {
  const digits = text.replace(/={1,2}$/, "");
  const padding = text.length - digits.length;
  const over = digits.length % 4;
  if (over === 1 || (padding > 0 && over + padding !== 4)) return false;
  return !NON_BASE64_CHARACTER.test(digits) || !NON_BASE64URL_CHARACTER.test(digits);
}

/** Whether blanks in the text can be those of base64 that was wrapped, and not those between words. */
function areBlanksOfBase64(text: string): boolean {
  if (text.endsWith("=")) return true;
  const [first = "", ...others] = text.split(/[ \t]+/);
  const inner = others.slice(0, -1);
  return first.length >= groupCharsMin && inner.every(({ length }) => length === first.length);
}

/**
 * Decodes base64 and base64url, with or without padding, line breaks and blanks, also in a `data:` URI. Any
 * other string is used as plain text, because some clients send that.
 */
function bytesOfText(text: string): Buffer {
  const start = DATA_URI.exec(text.slice(0, dataUriCharsMax))?.[0].length ?? 0;
  const written = text
    .slice(start)
    .replace(/[\r\n]+/g, "")
    .trim();
  const hasBlanks = /[ \t]/.test(written);
  const compact = hasBlanks && areBlanksOfBase64(written) ? written.replace(/[ \t]+/g, "") : written;
  return isBase64(compact) ? Buffer.from(compact, "base64") : Buffer.from(text, "utf8");
}

function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
}

/**
 * The bytes of a file in any form in which Resend's SDKs send it: base64, plain text, an array of bytes, a
 * Node.js Buffer as JSON; or as `readFiles` has decoded it. Null for any other value.
 */
export function decodeFileContent(value: unknown): Buffer | null {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === "string") return bytesOfText(value);
  if (isBytes(value)) return Buffer.from(value);
  if (typeof value === "object" && value !== null && "data" in value && isBytes(value.data))
    if ("type" in value && value.type === "Buffer" && Object.keys(value).length === 2)
      return Buffer.from(value.data);
  return null;
}

/** Decodes the files of an email, or of several in an array, where they are. Leaves what is no file. */
export function decodeFiles(body: unknown): void {
  for (const email of Array.isArray(body) ? body : [body])
    if (isObject(email) && Array.isArray(email.attachments))
      for (const file of email.attachments)
        if (isObject(file) && "content" in file) file.content = decoded(file.content);
}

/** An empty file stays as it was written: it is rejected. */
function decoded(content: unknown): unknown {
  const bytes = decodeFileContent(content);
  return bytes === null || bytes.length === 0 ? content : bytes;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
