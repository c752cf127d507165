import libmime from "libmime";
import { decodeCharset } from "./content-type";
import { isBody } from "./convert";
import { findValue } from "./fields";
import { decodePart, decodePartText, parseParts, type RawPart } from "./parts";

/** A file of a message: any part that is not its text or HTML. */
export type RawFile = {
  filename: string | null;
  contentType: string;
  contentId: string | null;
  content: Buffer;
};

/**
 * The parts of a message that a person reads: its first HTML body, its first plain text ("" if there is
 * none), its files.
 */
export type RawContent = { html: string | null; text: string; files: RawFile[] };

/** Characters of HTML and of text that are read. The message itself is not shortened. */
const charsMax = 500_000;
/** The half of a character that a shortened text can end with. */
const HALF_AT_END = /\p{Cs}$/u;

/** Reads the content of a message. RangeError if it has too many parts. */
export function parseContent(bytes: Uint8Array): RawContent {
  const content: RawContent = { html: null, text: "", files: [] };
  let hasText = false;
  const readInner = (part: RawPart): void => {
    // An embedded message is one file.
    if (part.type.startsWith("multipart/") && part.parts.length > 0) part.parts.forEach(readInner);
    else if (content.html === null && isBody(part, "text/html")) content.html = readText(bytes, part);
    else if (!hasText && isTextBody(part)) {
      hasText = true;
      content.text = readText(bytes, part);
    } else if (part.bodyStart < part.end) content.files.push(readFile(bytes, part));
  };
  readInner(parseParts(bytes));
  return content;
}

const isTextBody = ({ type, disposition }: RawPart): boolean =>
  type === "text/plain" && disposition.type !== "attachment" && !disposition.params.has("filename");

/** PostgreSQL cannot store NUL in a text. */
const readText = (bytes: Uint8Array, part: RawPart): string =>
  decodePartText(bytes, part)
    .replaceAll("\r\n", "\n")
    .replaceAll("\0", "")
    .slice(0, charsMax)
    .replace(HALF_AT_END, "");

function readFile(bytes: Uint8Array, part: RawPart): RawFile {
  const { type, params, disposition, fields } = part;
  const name = readParameter(disposition.params, "filename") ?? readParameter(params, "name");
  const id = findValue(fields, "content-id")?.replace(/^<|>$/g, "");
  return {
    filename:
      name
        ?.replace(/[/\\\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "_")
        .slice(0, 255)
        .replace(HALF_AT_END, "") || null,
    contentType: /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/.test(type)
      ? type
      : "application/octet-stream",
    contentId: id && /^[\x21-\x3b\x3d\x3f-\x7e]{1,128}$/.test(id) ? id : null,
    content: Buffer.from(decodePart(bytes, part)),
  };
}

/** A parameter in plain form, in encoded words, or percent-encoded and continued (RFC 2231). */
function readParameter(params: ReadonlyMap<string, string>, name: string): string | null {
  const plain = params.get(name);
  const whole = params.get(`${name}*`) ?? joinSections(params, name);
  if (whole === null) return plain === undefined ? null : libmime.decodeWords(plain);
  const [, charset, encoded] = /^([^']*)'[^']*'(.*)$/s.exec(whole) ?? [];
  if (encoded === undefined) return whole;
  const bytes = encoded.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  try {
    return decodeCharset(Buffer.from(bytes, "latin1"), charset || "utf-8");
  } catch {
    return plain ?? bytes;
  }
}

function joinSections(params: ReadonlyMap<string, string>, name: string): string | null {
  const sections: string[] = [];
  for (let n = 0; ; n += 1) {
    const section = params.get(`${name}*${n}*`) ?? params.get(`${name}*${n}`);
    if (section === undefined) break;
    sections.push(section);
  }
  return sections.length > 0 ? sections.join("") : null;
}
