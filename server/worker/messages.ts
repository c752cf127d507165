import type { HotSql } from "#db/client";
import type { Claim } from "#db/queue";
import type { Header } from "#db/schema/emails";
import type { UnknownPolicy } from "#db/schema/teams";
import { type Mailbox, parseMailbox } from "#server/mail/address";
import { composeMessage, needsSmtpUtf8 } from "#server/mail/compose";
import type { OutgoingMessage } from "#server/mail/transport/transport";

/** Bodies up to this size come with the batch; larger ones are read when their turn comes, so memory stays bounded. */
const bodyInBatchBytesMax = 256 * 1024;

export type StoredMessage = {
  teamId: string;
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
  policy: UnknownPolicy;
  /** False: html and text have to be read by `readBody`. */
  hasBody: boolean;
  html: string | null;
  text: string | null;
};

/** The mails of some claims, each once, by mail id. */
export async function readMessages(hot: HotSql, claims: Claim[]): Promise<Map<string, StoredMessage>> {
  const rows = await hot<StoredMessage[]>`
    select e.team_id as "teamId", e.id, e.sender, e.sender_address as "senderAddress", e."to", e.cc,
      e.reply_to as "replyTo", e.subject, e.headers, e.message_id as "messageId", e.created_at as "createdAt",
      t.unknown_policy as policy, s.small as "hasBody",
      case when s.small then b.html end as html, case when s.small then b.text end as text
    from unnest(${claims.map(({ teamId }) => teamId)}::uuid[], ${claims.map(({ emailId }) => emailId)}::uuid[]) as c(team_id, id)
    join emails e on e.team_id = c.team_id and e.id = c.id
    join email_bodies b on b.team_id = e.team_id and b.email_id = e.id
    join teams t on t.id = e.team_id
    cross join lateral (
      select coalesce(octet_length(b.html), 0) + coalesce(octet_length(b.text), 0) <= ${bodyInBatchBytesMax} as small
    ) s`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** The message with its body, read now where the batch left it out. */
export async function withBody(hot: HotSql, message: StoredMessage): Promise<StoredMessage> {
  if (message.hasBody) return message;
  const [body] = await hot<{ html: string | null; text: string | null }[]>`
    select html, text from email_bodies where team_id = ${message.teamId} and email_id = ${message.id}`;
  return { ...message, ...body, hasBody: true };
}

/**
 * The bytes of a mail. They depend on the stored row alone, so every attempt sends the same ones. Bcc recipients stand in
 * the envelope and nowhere else.
 */
export function composeStored(message: StoredMessage): OutgoingMessage {
  const draft = {
    from: storedMailbox(message.sender),
    to: message.to.map(storedMailbox),
    cc: message.cc.map(storedMailbox),
    replyTo: message.replyTo.map(storedMailbox),
    subject: message.subject,
    html: message.html,
    text: message.text,
    headers: message.headers.map(({ name, value }) => [name, value] as const),
    messageId: `<${message.messageId}>`,
    date: message.createdAt,
    boundarySeed: message.id,
  };
  return {
    id: message.id,
    returnPath: message.senderAddress,
    bytes: composeMessage(draft),
    smtpUtf8: needsSmtpUtf8(draft),
  };
}

function storedMailbox(text: string): Mailbox {
  const read = parseMailbox(text);
  if (!read.ok) throw new RangeError(`a stored mailbox is not readable: ${read.fault}`);
  return read.mailbox;
}
