import { createHash } from "node:crypto";
import { type Field, findAddresses, findField, parseFields } from "#server/mail/bounce/fields";
import { decodeValue } from "#server/mail/bounce/mime";
import { cleanText } from "#server/mail/outcome";

/**
 * The header field of every copy, with its kind. A message that contains it, also in the email that it
 * returns, is never copied. Without the prefix of our own fields, which a submission of the copy removes.
 */
export const COPY_FIELD = "Backstamp-Copy";

/** Fields of mailing lists and other programs. */
const PROGRAM_FIELD = /^(?:list-.*|mailing-list|precedence|x-loop)$/;

const headerCharsMax = 64 * 1024;
const subjectCharsMax = 200;

/** The header of a message that came back. All of it is untrusted. */
export type ReturnedHeader = {
  fields: Field[];
  /** The addresses of who wrote it: first the one to which a reply belongs. */
  authors: string[];
  /** Decoded, on one line. */
  subject: string;
};

/** Reads the header fields of the first 64 KB. */
export function parseReturnedHeader(bytes: Uint8Array): ReturnedHeader {
  const text = latin1(bytes, headerCharsMax).replace(/\r\n?/g, "\n").trimStart();
  const end = text.indexOf("\n\n");
  const fields = parseFields(end === -1 ? text : text.slice(0, end));
  return {
    fields,
    authors: ["reply-to", "from"].flatMap((name) => findAddresses(findField(fields, name) ?? "", 1)),
    subject: cleanText(decodeValue(findField(fields, "subject") ?? ""), subjectCharsMax),
  };
}

/** Whether it is one of our copies, or returns or forwards one. */
export const hasCopyField = (bytes: Uint8Array): boolean =>
  `\n${latin1(bytes)}`.toLowerCase().includes(`\n${COPY_FIELD.toLowerCase()}:`);

/** Whether a program wrote it: a mailing list, or one that reports that an email was read (RFC 8098). */
export const isOfProgram = ({ fields }: ReturnedHeader): boolean =>
  fields.some(({ name }) => PROGRAM_FIELD.test(name)) ||
  (findField(fields, "content-type") ?? "").toLowerCase().startsWith("multipart/report");

/** The same for every attempt to hand the message to us: servers add fields on the way. */
export const hashOf = (bytes: Uint8Array, { fields }: ReturnedHeader): string =>
  createHash("sha256")
    .update(findField(fields, "message-id") || bytes)
    .digest("hex")
    .slice(0, 32);

const latin1 = (bytes: Uint8Array, end = bytes.length): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, end)).toString("latin1");
