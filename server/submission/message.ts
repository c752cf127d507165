import { createHash } from "node:crypto";
import libmime from "libmime";
import { addressParser } from "postal-mime";
import type { Header } from "#db/schema/emails";
import { type Mailbox, parseLongMailbox } from "#server/mail/address/address";
import { checkHeader, explainReserved, fateInMessage } from "#server/mail/mime/headers";
import { checkMessageForm } from "#server/mail/mime/raw/check";
import { parseContent, type RawContent } from "#server/mail/mime/raw/content";
import { findValue, joinFields, parseHeader, parseValue, type RawField } from "#server/mail/mime/raw/fields";
import { parseFrom, parseListed, parseSender } from "#server/mail/mime/raw/sender";
import { AppError } from "#server/platform/errors";
import { areShort, type Reader } from "#server/platform/threads";
import { filesMaxBytes } from "#server/services/emails/accept/attachments";
import { fingerprintOf } from "#server/services/emails/accept/fingerprint";
import type { NewEmail, Once } from "#server/services/emails/accept/send";
import { foldAddress } from "#server/shared/text/fold-address";
import { isInstruction, parseInstructions } from "./instructions";

const subjectCharsMax = 2_000;
const listCharsMax = 65_536;
const headersMax = 50;
const filesMax = 100;

/** Fields that a message has at most once (RFC 5322 section 3.6, RFC 2045, RFC 2369, RFC 8058). */
const ONCE =
  /^(sender|reply-to|to|cc|message-id|in-reply-to|references|subject|date|mime-version|content-.*|list-.*|auto-submitted)$/;

/** The email of a submitted message, and its idempotency key with a fingerprint if it has one. */
export type Submission = { email: NewEmail; once: Once | undefined };

/**
 * Reads a message and the recipients of its envelope. The envelope decides who receives it: the To and Cc
 * headers only sort its recipients, and one in neither is a hidden recipient. 422 if the message cannot be
 * sent as it is.
 */
export function parseSubmission(bytes: Buffer, envelope: readonly string[]): Submission {
  const fault = checkMessageForm(bytes);
  if (fault) throw new AppError("invalid", fault);
  const { fields, bodyStart } = parseHeader(bytes);
  const from = parseFrom(fields);
  if (!from.ok) throw new AppError("invalid_sender", from.fault);
  checkFields(fields, from.mailbox);
  const { idempotencyKey, ...instructions } = parseInstructions(fields);
  const kept = fields.filter((field) => fateInMessage(field.name) === "kept" && !isInstruction(field));
  const content = readLimitedContent(bytes);
  const subject = cleanText(
    libmime.decodeWords(findValue(fields, "subject") ?? "").slice(0, subjectCharsMax),
  );
  const { template } = instructions;
  const email: NewEmail = {
    ...instructions,
    isSubmitted: true,
    from: from.mailbox,
    ...sortRecipients(fields, envelope.map(parseRecipient)),
    replyTo: listed(fields, "reply-to").slice(0, 50),
    subject: template && subject === "" ? null : subject,
    html: template ? null : content.html,
    text: template ? null : content.text,
    headers: describeHeaders(kept),
    attachments: content.files.map(({ content: file, ...rest }) => ({ ...rest, source: { content: file } })),
    // A template is composed like an email of the API; every other message is sent as it came.
    ...(template === null && {
      raw: {
        bytes: Buffer.concat([joinFields(kept), CRLF, bytes.subarray(bodyStart)]),
        messageId: readMessageId(fields),
        fieldNames: kept.map(({ name }) => name),
      },
    }),
  };
  return { email, once: idempotencyKey === null ? undefined : onceOf(idempotencyKey, email, content) };
}

type Submitted = { bytes: Buffer; envelope: readonly string[] };

export const PARSE_SUBMISSION: Reader<Submitted, Submission> = {
  name: "parseSubmission",
  read: ({ bytes, envelope }) => parseSubmission(bytes, envelope),
  isShort: ({ bytes }) => areShort(bytes),
  bytesOf: ({ bytes }) => bytes,
};

const CRLF = Buffer.from("\r\n", "latin1");

/** Throws for a field that cannot be removed and is not allowed, and for a second one of its kind. */
function checkFields(fields: readonly RawField[], from: Mailbox): void {
  const seen = new Set<string>();
  for (const { name, text } of fields) {
    if (fateInMessage(name) === "refused")
      throw new AppError("invalid", explainReserved(text.slice(0, text.indexOf(":")).trimEnd()));
    if (seen.has(name) && ONCE.test(name))
      throw new AppError("invalid", `The message has more than one ${name} header. Send it once.`);
    seen.add(name);
  }
  const sender = findValue(fields, "sender");
  if (sender === null) return;
  const read = parseSender(sender);
  if (!read.ok || read.mailbox.domain !== from.domain)
    throw new AppError(
      "invalid_sender",
      `The Sender header must be a mailbox of ${from.domain}, the domain of the From header. Remove or change it.`,
    );
}

/** Parses a recipient of the envelope. 422 for an address that Backstamp does not support. */
function parseRecipient(address: string): Mailbox {
  const read = parseLongMailbox(address);
  if (!read.ok) throw new AppError("invalid", read.fault);
  return read.mailbox;
}

function readLimitedContent(bytes: Buffer): RawContent {
  let content: RawContent;
  try {
    content = parseContent(bytes);
  } catch (error) {
    if (error instanceof RangeError) throw new AppError("invalid", error.message);
    throw error;
  }
  if (content.files.length > filesMax)
    throw new AppError(
      "invalid_attachment",
      `At most ${filesMax} files. This message has ${content.files.length}.`,
    );
  if (content.files.reduce((sum, file) => sum + file.content.length, 0) > filesMaxBytes)
    throw new AppError("too_large", `The files of one message have at most ${filesMaxBytes} bytes.`);
  return content;
}

function sortRecipients(fields: readonly RawField[], recipients: readonly Mailbox[]) {
  const lists = { to: listed(fields, "to"), cc: listed(fields, "cc") };
  const sorted: Pick<NewEmail, "to" | "cc" | "bcc"> = { to: [], cc: [], bcc: [] };
  for (const recipient of recipients) {
    const folded = foldAddress(recipient.address);
    const find = (kind: "to" | "cc") => lists[kind].find(({ address }) => foldAddress(address) === folded);
    const to = find("to");
    const cc = to ? undefined : find("cc");
    if (to) sorted.to.push({ ...recipient, name: to.name });
    else if (cc) sorted.cc.push({ ...recipient, name: cc.name });
    else sorted.bcc.push(recipient);
  }
  return sorted;
}

/** The mailboxes of all fields with this name; those that Backstamp does not support are left out. */
const listed = (fields: readonly RawField[], wanted: string): Mailbox[] =>
  fields
    .filter(({ name }) => name === wanted)
    .flatMap((field) => addressParser(parseValue(field).slice(0, listCharsMax), { flatten: true }))
    .flatMap(({ address, name }) => (address ? (parseListed(address, name) ?? []) : []));

/** The custom headers of the message, for display, and for an email from a template. */
function describeHeaders(fields: readonly RawField[]): Header[] {
  const headers = new Map<string, Header>();
  for (const field of fields) {
    const value = parseValue(field);
    const name = field.text.slice(0, field.text.indexOf(":")).trimEnd();
    if (headers.size < headersMax && !headers.has(field.name) && checkHeader(name, value) === null)
      headers.set(field.name, { name, value });
  }
  return [...headers.values()];
}

/**
 * The Message-ID without angle brackets; null if there is none, or none that can be written to other fields.
 */
function readMessageId(fields: readonly RawField[]): string | null {
  return /^<([\x21-\x3b\x3d\x3f-\x7e]{3,900})>$/.exec(findValue(fields, "message-id") ?? "")?.[1] ?? null;
}

const cleanText = (text: string): string => text.replace(/[\p{Cc}\p{Cs}]+/gu, " ");

/**
 * A program that repeats a message may write another Date, Message-ID or boundary. The fingerprint therefore
 * covers only what a person reads. A key belongs to one set of recipients, because mail servers split the
 * recipients of a message among several transactions with the same header.
 */
function onceOf(
  key: string,
  { from, to, cc, bcc, subject, template, tags }: NewEmail,
  content: RawContent,
): Once {
  const files = content.files.map(({ content: file, ...rest }) => ({
    ...rest,
    hash: createHash("sha256").update(file).digest("hex"),
  }));
  const recipients = [...to, ...cc, ...bcc].map(({ address }) => address).sort();
  const hash = createHash("sha256").update(recipients.join("\n")).digest("hex");
  const { html, text } = content;
  const read = { from: from?.address, subject, template, tags, html, text, files };
  return { route: `SMTP ${hash}`, key, fingerprint: fingerprintOf(read), status: 250 };
}
