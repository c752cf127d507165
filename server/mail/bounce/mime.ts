import { type Field, fieldOf, readFields } from "./fields";

/** A part of a message. `content` is as it came, one character a byte; `parts` are those of a multipart. */
export type Part = {
  /** In lower case: `text/plain`. */
  type: string;
  /** Of the type, by names in lower case. */
  params: ReadonlyMap<string, string>;
  fields: Field[];
  content: string;
  parts: Part[];
};

/** Bytes of a message that are read. What is behind them is the returned mail's body or its files. */
export const readBytesMax = 1024 * 1024;

const depthMax = 8;
const partsMax = 60;

/**
 * Takes a message apart (RFC 2045, RFC 2046). Every text is a message to it; what is broken, nested too deep or too much is
 * left whole. At most `depthMax` looks at each byte of the first MB.
 */
export function readMessage(bytes: Uint8Array): Part {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, readBytesMax))
    .toString("latin1")
    .replace(/\r\n?/g, "\n");
  return readPart(text, 0, { parts: partsMax });
}

/** The parts of a message in the order in which they stand, itself first. */
export function* allParts(part: Part): Generator<Part> {
  yield part;
  for (const inner of part.parts) yield* allParts(inner);
}

/** What a part says, without its transfer encoding and in Unicode; at most `charsMax` characters of it. */
export function textOf({ fields, params, content }: Part, charsMax = 65_536): string {
  const encoding = fieldOf(fields, "content-transfer-encoding")?.trim().toLowerCase();
  // Base64 grows by a third, quoted-printable by three times.
  const raw = content.slice(0, charsMax * 3);
  const bytes =
    encoding === "base64"
      ? Buffer.from(raw, "base64")
      : Buffer.from(encoding === "quoted-printable" ? unquote(raw) : raw, "latin1");
  return decoderFor(params.get("charset")).decode(bytes).replace(/\r\n?/g, "\n").slice(0, charsMax);
}

/** The header of the mail inside a part that holds one, or only its header (`message/rfc822`, `text/rfc822-headers`). */
export function innerFields(part: Part): Field[] {
  const text = textOf(part, 131_072).replace(/^\n+/, "");
  const end = text.indexOf("\n\n");
  return readFields(end === -1 ? text : text.slice(0, end));
}

function readPart(text: string, depth: number, budget: { parts: number }): Part {
  budget.parts -= 1;
  const isBare = text.startsWith("\n");
  const end = isBare ? 0 : text.indexOf("\n\n");
  const fields = isBare ? [] : readFields(end === -1 ? text : text.slice(0, end));
  const content = isBare ? text.slice(1) : end === -1 ? "" : text.slice(end + 2);
  const { type, params } = readType(fieldOf(fields, "content-type") ?? "text/plain");
  const boundary = params.get("boundary");
  const isSplit = type.startsWith("multipart/") && boundary !== undefined && depth < depthMax;
  const pieces = isSplit ? splitAt(content, boundary, budget.parts) : [];
  const parts: Part[] = [];
  for (const piece of pieces) if (budget.parts > 0) parts.push(readPart(piece, depth + 1, budget));
  return { type, params, fields, content, parts };
}

/** The texts between the lines that begin with the boundary; the last one may lack its end. */
function splitAt(content: string, boundary: string, limit: number): string[] {
  if (boundary === "" || boundary.length > 200) return [];
  const mark = `\n--${boundary}`;
  const text = `\n${content}`;
  const pieces: string[] = [];
  let from = -1;
  for (let at = text.indexOf(mark); at !== -1 && pieces.length <= limit; ) {
    const after = at + mark.length;
    const lineEnd = text.indexOf("\n", after);
    const rest = text.slice(after, lineEnd === -1 ? undefined : lineEnd).trim();
    const isOurs = rest === "" || rest === "--";
    if (isOurs && from !== -1) pieces.push(text.slice(from, at));
    if (rest === "--" || lineEnd === -1) return pieces;
    // A longer boundary may begin with this one.
    if (isOurs) from = lineEnd + 1;
    at = text.indexOf(mark, lineEnd);
  }
  if (from !== -1) pieces.push(text.slice(from));
  return pieces;
}

function readType(value: string): { type: string; params: Map<string, string> } {
  const params = new Map<string, string>();
  const [type = "", ...rest] = splitUnquoted(value.slice(0, 2_000));
  for (const part of rest) {
    const equals = part.indexOf("=");
    if (equals < 1) continue;
    const name = part.slice(0, equals).trim().toLowerCase();
    const given = part.slice(equals + 1).trim();
    const plain = given.startsWith('"') ? given.slice(1).replace(/"$/, "").replace(/\\(.)/g, "$1") : given;
    if (!params.has(name)) params.set(name, plain);
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

/** Quoted-printable (RFC 2045 section 6.7), one character a byte. */
const unquote = (text: string): string =>
  text
    .replace(/=[ \t]{0,80}\n/g, "")
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function decoderFor(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset ?? "utf-8");
  } catch {
    return new TextDecoder("utf-8");
  }
}
