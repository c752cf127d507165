import type { Header } from "#db/schema/emails";
import { type Mailbox, parseMailbox } from "#server/mail/address";
import { composeMessage, needsSmtpUtf8 } from "#server/mail/compose";
import type { FilePart } from "#server/mail/entity";
import type { OutgoingMessage } from "#server/mail/transport/transport";

/** What of a stored mail decides its bytes. */
export type MessageSource = {
  id: string;
  sender: string;
  senderAddress: string;
  to: string[];
  cc: string[];
  replyTo: string[];
  subject: string;
  headers: Header[];
  messageId: string;
  createdAt: Date;
  html: string | null;
  text: string | null;
  files: FilePart[];
};

/**
 * The bytes of a mail. They depend on the stored rows alone, so every attempt sends the same ones. Bcc recipients stand in
 * the envelope and nowhere else. A row that cannot have come from us is a RangeError.
 */
export function outgoingMessage(source: MessageSource): OutgoingMessage {
  const draft = {
    from: storedMailbox(source.sender),
    to: source.to.map(storedMailbox),
    cc: source.cc.map(storedMailbox),
    replyTo: source.replyTo.map(storedMailbox),
    subject: source.subject,
    html: source.html,
    text: source.text,
    headers: source.headers.map(({ name, value }) => [name, value] as const),
    messageId: `<${source.messageId}>`,
    date: source.createdAt,
    boundarySeed: source.id,
    files: source.files,
  };
  return {
    id: source.id,
    returnPath: source.senderAddress,
    bytes: composeMessage(draft),
    smtpUtf8: needsSmtpUtf8(draft),
  };
}

function storedMailbox(text: string): Mailbox {
  const read = parseMailbox(text);
  if (!read.ok) throw new RangeError(`a stored mailbox is not readable: ${read.fault}`);
  return read.mailbox;
}
