import { createHash } from "node:crypto";
import type { Header } from "#db/schema/emails";
import { type Mailbox, parseMailbox } from "#server/mail/address";
import { composeMessage, needsSmtpUtf8, plainTextOf } from "#server/mail/compose";
import type { FilePart } from "#server/mail/entity";
import { type Marks, trackedHtml } from "#server/mail/tracked-html";
import type { OutgoingMessage } from "#server/mail/transport/transport";

/** What of a stored mail decides its bytes. */
export type MessageSource = {
  id: string;
  teamId: string;
  listUnsubscribe: boolean;
  sender: string;
  senderAddress: string;
  to: string[];
  cc: string[];
  replyTo: string[];
  subject: string;
  senderDomain: string;
  headers: Header[];
  messageId: string;
  /** When it was accepted, or when it was to go out. */
  createdAt: Date;
  html: string | null;
  text: string | null;
  files: FilePart[];
};

/** What only one recipient's copy has. Whoever gives it sends that copy to nobody else. */
export type OwnParts = {
  /** The https link by which the recipient unsubscribes with one click (RFC 8058). */
  unsubscribeLink?: string;
  /** The envelope sender, in place of the mail's own. */
  returnPath?: string;
  /** What its html tells of being opened and of its links. */
  marks?: Marks;
};

/** The last part of the Feedback-ID, by which mail of this software is known. */
const feedbackSender = "posthorn";

/**
 * The bytes of a mail. They depend on the stored rows alone, so every attempt sends the same ones. Bcc recipients stand in
 * the envelope and nowhere else. A row that cannot have come from us is a RangeError.
 */
export function outgoingMessage(source: MessageSource, own: OwnParts = {}): OutgoingMessage {
  const from = storedMailbox(source.sender);
  const returnPath = own.returnPath ?? source.senderAddress;
  if (from.address !== source.senderAddress || from.domain !== source.senderDomain)
    throw new RangeError("a stored mail whose From is not the sender that was judged");
  const envelope = parseMailbox(returnPath);
  if (!envelope.ok || envelope.mailbox.address !== returnPath)
    throw new RangeError("the return path is not one plain address");
  const draft = {
    from,
    to: source.to.map(storedMailbox),
    cc: source.cc.map(storedMailbox),
    replyTo: source.replyTo.map(storedMailbox),
    subject: source.subject,
    ...bodyOf(source, own.marks),
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
    ...(own.returnPath !== undefined && { wantsReports: true }),
  };
}

/** The text is the caller's, or made from the caller's html: no link of ours is in it. */
function bodyOf(
  { html, text }: MessageSource,
  marks: Marks | undefined,
): Pick<MessageSource, "html" | "text"> {
  return marks && html
    ? { html: trackedHtml(html, marks), text: plainTextOf({ html, text }) }
    : { html, text };
}

/** The caller's own, and ours where the caller gave none. */
function headersOf(
  { teamId, senderDomain, listUnsubscribe, headers }: MessageSource,
  { unsubscribeLink }: OwnParts,
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
    given.push(["Feedback-ID", `${kind}:${senderDomain}:${tellTeam(teamId)}:${feedbackSender}`]);
  }
  return given;
}

/** Tells one team from another in what mailbox providers count, and shows no id. */
const tellTeam = (teamId: string): string => createHash("sha256").update(teamId).digest("hex").slice(0, 12);

function storedMailbox(text: string): Mailbox {
  const read = parseMailbox(text);
  if (!read.ok) throw new RangeError(`a stored mailbox is not readable: ${read.fault}`);
  return read.mailbox;
}
