import type { ReturnKind } from "#db/schema/events";
import type { Deps } from "#server/deps";
import { type Mailbox, parseMailbox, parseStoredMailbox } from "#server/mail/address/address";
import { readBytesMax } from "#server/mail/bounce/mime";
import type { FilePart } from "#server/mail/mime/entity";
import { checkMessageForm } from "#server/mail/mime/raw/check";
import { hasEightBit, toSevenBit } from "#server/mail/mime/raw/convert";
import { cleanText } from "#server/mail/outcome";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { findMailboxFault } from "#server/services/returns/copies/mailboxes";
import { copiesPerHourMax, hourBefore } from "#server/services/returns/copies/queue";
import { COPY_FIELD, parseReturnedHeader } from "#server/services/returns/copies/returned-message";
import { composeOwnEmail } from "./outgoing";
import type { CopyClaim } from "./queue";
import { oneLine, type SystemEmailContent } from "./texts";

const subjectCharsMax = 300;

type StoredCopy = {
  message: Uint8Array;
  emailId: string;
  subject: string;
  address: string;
  /** Why the email bounced, if it is still bounced. */
  reason: string | null;
  team: string;
  createdAt: Date;
  /** Copies of this kind in the hour that ends with this one. */
  inHour: number;
};

/**
 * Composes the copy of a returned message: an email of Backstamp with the message attached as it arrived, and
 * to a person's reply the person's address in `Reply-To`. It has the null sender, so nothing comes back (RFC
 * 3834 section 3.3). Null if the mailbox may no longer have copies of the team.
 */
export async function composeCopy(
  deps: Deps,
  { id, teamId, kind }: CopyClaim,
  recipient: Mailbox,
): Promise<OutgoingMessage | null> {
  const [copy] = await deps.hot<StoredCopy[]>`
    select c.message, c.email_id as "emailId", e.subject, d.address,
      case when d.status = 'bounced' then d.last_reason end as reason, t.name as team, c.created_at as "createdAt",
      (select count(*)::int from return_copies o where o.team_id = ${teamId} and o.kind = c.kind
        and o.id > ${hourBefore(id)} and o.id <= c.id) as "inHour"
    from return_copies c join teams t on t.id = c.team_id
      join emails e on e.team_id = c.team_id and e.id = c.email_id
      join deliveries d on d.team_id = c.team_id and d.email_id = c.email_id and d.id = c.delivery_id
    where c.team_id = ${teamId} and c.id = ${id} and c.message is not null`;
  if (!copy || (await findMailboxFault(deps, teamId, recipient.address)) !== null) return null;
  const { message, createdAt } = copy;
  const header = parseReturnedHeader(message);
  const author = parseMailbox(header.authors[0] ?? "");
  // An address that requires SMTPUTF8 would require it of the mailbox's server, too.
  const replyTo = kind === "reply" && author.ok && !author.mailbox.smtpUtf8 ? [author.mailbox] : [];
  const about = { replyTo: replyTo[0]?.address ?? null, subject: header.subject };
  const own = { id, createdAt, messageId: `${id}@${parseStoredMailbox(deps.home.sender).domain}` };
  const { ownReturnPath: _, ...composed } = await composeOwnEmail(deps, own, recipient, {
    content: contentOf(deps.home.url, { kind, teamId }, copy, about),
    replyTo,
    headers: [[COPY_FIELD, kind]],
    files: [fileOf(message)],
  });
  return { ...composed, returnPath: "" };
}

function contentOf(
  url: string,
  { kind, teamId }: { kind: ReturnKind; teamId: string },
  { emailId, subject, address, reason, team, message, inHour }: StoredCopy,
  reply: { replyTo: string | null; subject: string },
): SystemEmailContent {
  const isBounce = kind === "bounce";
  const heading = isBounce ? `Email to ${address} bounced` : `Reply from ${reply.replyTo ?? "a recipient"}`;
  const kinds = isBounce ? "bounces" : "replies";
  return {
    subject: cleanText(`${heading}: ${isBounce ? subject : reply.subject}`, subjectCharsMax),
    heading,
    paragraphs: [
      isBounce
        ? `Subject: ${subject}`
        : `This message came to the return path of the email “${subject}” to ${address}.`,
      ...(isBounce && reason !== null ? [reason] : []),
      reply.replyTo === null
        ? "The message is attached."
        : `The message is attached. Your reply to this email is sent to ${reply.replyTo}.`,
      ...(message.length >= readBytesMax ? ["Only its first MB is attached."] : []),
      ...(inHour >= copiesPerHourMax
        ? [`This is copy ${inHour} within an hour, the maximum. More ${kinds} of this hour are not copied.`]
        : []),
    ],
    action: { label: "Open the email", url: `${url}/console/emails/${emailId}?team=${teamId}` },
    afterwards: [
      `This mailbox has copies of the ${kinds} of the team ${oneLine(team)}. To change it, open ${url}/console/settings/team?team=${teamId}`,
    ],
  };
}

/**
 * The message in a form in which mail programs display it; if its bytes need a transfer encoding, as a file
 * that they open.
 */
function fileOf(message: Uint8Array): FilePart {
  const file = { filename: "message.eml", contentId: null };
  const content = toSevenBitMessage(message);
  return content
    ? { ...file, contentType: "message/rfc822", content, is7Bit: true }
    : { ...file, contentType: "application/octet-stream", content: message };
}

function toSevenBitMessage(message: Uint8Array): Uint8Array | null {
  if (checkMessageForm(message) !== null) return null;
  try {
    const converted = hasEightBit(message) ? toSevenBit(message) : message;
    return hasEightBit(converted) ? null : converted;
  } catch (error) {
    // It has too many parts to be read.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
