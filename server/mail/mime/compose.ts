import type { Mailbox } from "../address/address";
import { addressField, rawField, textField } from "./encode-header";
import { type Entity, type FilePart, fileEntity, messageOf, multipart, textEntity } from "./entity";
import { checkHeaders, checkHeaderText } from "./headers";

/**
 * The complete input of a message. `text: ""` means no text part. `messageId` includes angle brackets.
 * `boundarySeed` is any string that differs between messages. Bcc is absent: such recipients belong to the
 * envelope only.
 */
export type Draft = {
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly Mailbox[];
  subject: string;
  html: string | null;
  text: string;
  headers: readonly (readonly [name: string, value: string])[];
  messageId: string;
  date: Date;
  boundarySeed: string;
  /** Sets `Auto-Submitted: auto-generated`, which prevents automatic replies (RFC 3834 section 5). */
  isAutomatic?: true;
  /** In display order. */
  files?: readonly FilePart[];
};

/**
 * Builds the message of a draft; the same draft always gives the same bytes. The format is RFC 5322 and 2045
 * to 2047 with UTF-8, CRLF only, 7-bit (except addresses that need SMTPUTF8, RFC 6532), lines of at most 998
 * octets. The API validates all inputs, so an invalid draft is a bug: RangeError.
 */
export function composeMessage(draft: Draft): Uint8Array {
  assertHeaderText(draft);
  return messageOf(fieldsOf(draft), contentOf(draft));
}

/** Whether the message needs servers with SMTPUTF8 because of an address in its headers. */
export function needsSmtpUtf8(draft: Pick<Draft, "from" | "to" | "cc" | "replyTo">): boolean {
  return [draft.from, ...draft.to, ...draft.cc, ...draft.replyTo].some((mailbox) => mailbox.smtpUtf8);
}

/** The header fields of a message, in order, unfolded (RFC 5322 section 2.2.3) but still encoded. */
export function headersOf(bytes: Uint8Array): { name: string; value: string }[] {
  return fieldsIn(bytes).map((field) => {
    const colon = field.indexOf(":");
    return {
      name: field.slice(0, colon),
      value: field
        .slice(colon + 1)
        .replaceAll("\r\n", "")
        .trim(),
    };
  });
}

/**
 * Text before HTML (RFC 2046 section 5.1.4); inline files in `related` with the HTML, other files in `mixed`.
 */
function contentOf(draft: Draft): Entity {
  const files = draft.files ?? [];
  const html = draft.html || null;
  const { text } = draft;
  const plain = textEntity("text/plain", text);
  const inline = files.filter(({ contentId }) => contentId !== null && html !== null);
  const rich = html === null ? null : textEntity("text/html", html);
  const related = rich && multipart("related", [rich, ...inline.map(fileEntity)], draft.boundarySeed);
  const body =
    related === null
      ? plain
      : text === ""
        ? related
        : multipart("alternative", [plain, related], draft.boundarySeed);
  const attached = files.filter((file) => !inline.includes(file));
  return multipart("mixed", [body, ...attached.map(fileEntity)], draft.boundarySeed);
}

function fieldsOf(draft: Draft): string {
  let head = `Date: ${formatDate(draft.date)}\r\n${addressField("From", [draft.from])}`;
  if (draft.replyTo.length > 0) head += addressField("Reply-To", draft.replyTo);
  if (draft.to.length > 0) head += addressField("To", draft.to);
  else if (draft.cc.length === 0) head += "To: undisclosed-recipients:;\r\n";
  if (draft.cc.length > 0) head += addressField("Cc", draft.cc);
  head += textField("Subject", draft.subject);
  head += `Message-ID: ${draft.messageId}\r\n`;
  if (draft.isAutomatic) head += "Auto-Submitted: auto-generated\r\n";
  for (const [name, value] of draft.headers) head += rawField(name, value);
  return `${head}MIME-Version: 1.0\r\n`;
}

/** RFC 5322 section 3.3 in UTC, with a numeric zone. */
export function formatDate(date: Date): string {
  return date.toUTCString().replace("GMT", "+0000");
}

/** The header fields of a message, still folded. */
function fieldsIn(bytes: Uint8Array): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.indexOf("\r\n\r\n");
  return buffer.toString("utf8", 0, end === -1 ? buffer.length : end).split(/\r\n(?![ \t])/);
}

function assertHeaderText(draft: Draft): void {
  const mailboxes = [draft.from, ...draft.to, ...draft.cc, ...draft.replyTo];
  const fault =
    checkHeaderText("The subject", draft.subject) ??
    checkHeaders(draft.headers) ??
    (/^<[\x21-\x3b\x3d\x3f-\x7e]{3,900}>$/.test(draft.messageId) ? null : "The Message-ID is malformed.") ??
    (Number.isNaN(draft.date.getTime()) ? "The date is invalid." : null);
  if (fault !== null) throw new RangeError(fault);
  for (const { name, address } of mailboxes)
    if (/[\p{Cc}\p{Cs}]/u.test(name ?? "") || /[\p{Cc}\p{Cs}\p{Z}<>,]/u.test(address))
      throw new RangeError("A mailbox of the draft was not validated by the address parser.");
}
