import { hash } from "node:crypto";
import { parseStoredMailbox } from "#server/mail/address/address";
import { composeMessage, needsSmtpUtf8 } from "#server/mail/mime/compose";
import type { FilePart } from "#server/mail/mime/entity";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import type { EmailSummary } from "#server/shared/wire/email";
import { type CopyParts, copyBody } from "./copy-body";
import { submittedMessage } from "./submitted-message";

/** The parts of a stored email that determine its bytes. */
export type MessageSource = Pick<
  EmailSummary,
  "id" | "teamId" | "sender" | "senderAddress" | "senderDomain" | "to" | "cc" | "replyTo" | "subject"
> &
  Pick<EmailSummary, "headers" | "listUnsubscribe" | "messageId"> & {
    /** When it was accepted, or the time it was scheduled for. */
    createdAt: Date;
    html: string | null;
    /**
     * The caller's text, or the text derived from the caller's HTML; "": no text part. Contains none of our
     * links.
     */
    text: string;
    files: FilePart[];
    /** The message that was submitted over SMTP. It is sent instead of one composed from the other parts. */
    raw?: Uint8Array | null;
  };

/**
 * Parts that only one recipient's copy contains. A copy with own parts must not be sent to any other
 * recipient.
 */
export type OwnParts = CopyParts & {
  /** The envelope sender, instead of the email's own. */
  returnPath?: string;
  /** Identifies the recipient in the Feedback-ID: reports can omit the return path. */
  token?: string;
};

/**
 * The last part of the Feedback-ID. It identifies email from this software. Gmail counts the last four parts
 * only, so one before them can be different in each copy (https://support.google.com/mail/answer/6254652).
 */
const feedbackSender = "backstamp";

/**
 * The bytes of an email. They depend on the stored rows only, so every attempt sends the same bytes. Bcc
 * recipients are in the envelope only. RangeError if a row cannot have been written by us.
 */
export function outgoingMessage(source: MessageSource, own: OwnParts = {}): OutgoingMessage {
  const from = parseStoredMailbox(source.sender);
  if (from.address !== source.senderAddress || from.domain !== source.senderDomain)
    throw new RangeError("the From header of a stored email differs from the sender that was checked");
  const returnPath = own.returnPath ?? from.address;
  if (own.returnPath !== undefined && parseStoredMailbox(returnPath).address !== returnPath)
    throw new RangeError("the return path is not a plain address");
  const reports = own.returnPath !== undefined && { wantsReports: true };
  if (source.raw)
    return { ...submittedMessage({ ...source, raw: source.raw }, { ...own, returnPath }), ...reports };
  const draft = {
    from,
    to: source.to.map(parseStoredMailbox),
    cc: source.cc.map(parseStoredMailbox),
    replyTo: source.replyTo.map(parseStoredMailbox),
    subject: source.subject,
    html: source.html && copyBody(source.html, "html", own),
    text: copyBody(source.text, "text", own),
    headers: headersOf(source, own),
    messageId: `<${source.messageId}>`,
    date: source.createdAt,
    boundarySeed: source.id,
    files: source.files,
  };
  return {
    id: source.id,
    returnPath,
    bytes: composeMessage(draft),
    smtpUtf8: needsSmtpUtf8(draft),
    messageId: source.messageId,
    ...reports,
  };
}

/** The caller's headers, and our own where the caller set none. */
function headersOf(
  { teamId, senderDomain, listUnsubscribe, headers }: MessageSource,
  { unsubscribeLink, token }: OwnParts,
): [name: string, value: string][] {
  const given = headers.map(({ name, value }): [string, string] => [name, value]);
  const isGiven = (wanted: string) => given.some(([name]) => name.toLowerCase() === wanted);
  if (unsubscribeLink)
    given.push(
      ["List-Unsubscribe", `<${unsubscribeLink}>`],
      ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
    );
  if (!isGiven("feedback-id")) {
    const kind = listUnsubscribe ? "list" : "single";
    const parts = [kind, senderDomain, hashTeamId(teamId), feedbackSender];
    given.push(["Feedback-ID", [...(token ? [token] : []), ...parts].join(":")]);
  }
  return given;
}

/** Identifies a team in the statistics of mailbox providers without revealing its id. */
const hashTeamId = (teamId: string): string => hash("sha256", teamId).slice(0, 12);
