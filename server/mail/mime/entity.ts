import { hash } from "node:crypto";
import { encodeBody, wrapBase64 } from "./encode-body";
import { parameter } from "./encode-parameter";

/** A MIME entity (RFC 2045): its content fields, each ending in CRLF, and its encoded content. */
export type Entity = { fields: string; content: Buffer[]; mayHoldBoundary: boolean };

/** A file of a message. A file with a content id is inline: the HTML references it as `cid:`. */
export type FilePart = {
  filename: string | null;
  contentType: string;
  contentId: string | null;
  content: Uint8Array;
  /** It is not encoded, because its bytes are 7-bit in short lines that end in CRLF. */
  is7Bit?: true;
};

const CRLF = Buffer.from("\r\n", "latin1");

/** Text in UTF-8, in the shortest safe transfer encoding. */
export function textEntity(type: "text/plain" | "text/html", text: string): Entity {
  const { encoding, bytes } = encodeBody(text);
  return {
    fields: `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n`,
    content: [bytes],
    mayHoldBoundary: encoding === "7bit",
  };
}

/**
 * A file in base64, with its name encoded by RFC 2231 and, for older clients, in plain ASCII. A
 * `message/rfc822` must not be in base64 (RFC 2046 section 5.2.1).
 */
export function fileEntity({ filename, contentType, contentId, content, is7Bit }: FilePart): Entity {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const disposition = contentId === null ? "attachment" : "inline";
  return {
    fields:
      `Content-Type: ${contentType}\r\nContent-Transfer-Encoding: ${is7Bit ? "7bit" : "base64"}\r\n` +
      `Content-Disposition: ${disposition}${filename === null ? "" : parameter("filename", filename)}\r\n` +
      (contentId === null ? "" : `Content-ID: <${contentId}>\r\n`),
    content: [is7Bit ? bytes : wrapBase64(bytes)],
    mayHoldBoundary: is7Bit === true,
  };
}

/**
 * Combines entities into a multipart. A single entity is returned unwrapped. The boundary depends only on
 * seed and parts.
 */
export function multipart(
  subtype: "alternative" | "related" | "mixed",
  parts: readonly [Entity, ...Entity[]],
  seed: string,
): Entity {
  if (parts.length === 1) return parts[0];
  const boundary = boundaryFor(parts, `${subtype}:${seed}`);
  const content: Buffer[] = [];
  for (const [index, part] of parts.entries()) {
    content.push(Buffer.from(`${index === 0 ? "" : "\r\n"}--${boundary}\r\n${part.fields}\r\n`, "utf8"));
    content.push(...part.content);
  }
  content.push(Buffer.from(`\r\n--${boundary}--`, "latin1"));
  const type = subtype === "related" ? `related; type="${typeOf(parts[0])}"` : subtype;
  return {
    fields: `Content-Type: multipart/${type};\r\n boundary="${boundary}"\r\n`,
    content,
    mayHoldBoundary: parts.some(({ mayHoldBoundary }) => mayHoldBoundary),
  };
}

/** The complete message: the given header fields, those of the entity, and its content. */
export function messageOf(fields: string, { fields: own, content }: Entity): Buffer {
  return Buffer.concat([Buffer.from(`${fields}${own}\r\n`, "utf8"), ...content, CRLF]);
}

const typeOf = ({ fields }: Entity): string => /^Content-Type: ([^;\r]+)/.exec(fields)?.[1] ?? "text/html";

/**
 * `=_` cannot occur in quoted-printable or base64, so only a 7-bit part can contain the boundary and require
 * another one.
 */
function boundaryFor(parts: readonly Entity[], seed: string): string {
  for (let round = 0; ; round += 1) {
    const boundary = `=_${hash("sha256", `${round}:${seed}`).slice(0, 32)}`;
    const holds = ({ mayHoldBoundary, content }: Entity) =>
      mayHoldBoundary && content.some((bytes) => bytes.includes(boundary));
    if (!parts.some(holds)) return boundary;
  }
}
