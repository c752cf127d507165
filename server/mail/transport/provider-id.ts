import type { Reply } from "../outcome";

/** Providers with known SMTP replies and supported callbacks. */
export type MailProvider =
  | "ses"
  | "postmark"
  | "mailgun"
  | "sendgrid"
  | "resend"
  | "brevo"
  | "mailjet"
  | "sparkpost"
  | "scaleway"
  | "mailersend";

/** Key of our metadata in the events of Postmark and SparkPost. */
export const metadataKey = "backstamp";

const UUID = /\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/i;

/**
 * How a provider names a message in its events: by the id in its 250 reply; by our Message-ID; or by our id,
 * which a header of the message contains. SES replies `Ok <id>`. SendGrid replies `Ok: queued as <id>`; the
 * `sg_message_id` of its events starts with this id. Resend uses a UUID, MailerSend `Message queued as <id>`.
 * Brevo returns the Message-ID, which it can replace. Mailgun and Scaleway return no id. Postmark's `queued
 * as` names the queue of one machine, and the ids in the replies of Mailjet and SparkPost appear in no event.
 */
const NAMES: Record<MailProvider, RegExp | "Message-ID" | { header: (id: string) => string }> = {
  ses: /^Ok ([0-9A-Za-z-]{20,100})$/i,
  sendgrid: /\bqueued as ([0-9A-Za-z_-]{8,100})$/i,
  resend: UUID,
  mailersend: /\bqueued as ([0-9a-f]{16,64})$/i,
  brevo: "Message-ID",
  mailgun: "Message-ID",
  scaleway: "Message-ID",
  postmark: { header: (id) => `X-PM-Metadata-${metadataKey}: ${id}` },
  mailjet: { header: (id) => `X-MJ-CustomID: ${id}` },
  sparkpost: { header: (id) => `X-MSYS-API: ${JSON.stringify({ metadata: { [metadataKey]: id } })}` },
};

/** The Message-ID in a 250 reply, which a provider may have replaced. */
const QUOTED_MESSAGE_ID = /\bqueued as <([\x21-\x3b\x3d\x3f-\x7e]{3,300})>$/i;

/** Domain suffixes of the providers' SMTP hosts. */
const HOSTS: readonly (readonly [suffix: string, provider: MailProvider])[] = [
  ["amazonaws.com", "ses"],
  ["postmarkapp.com", "postmark"],
  ["mailgun.org", "mailgun"],
  ["sendgrid.net", "sendgrid"],
  ["resend.com", "resend"],
  ["brevo.com", "brevo"],
  ["sendinblue.com", "brevo"],
  ["mailjet.com", "mailjet"],
  ["sparkpostmail.com", "sparkpost"],
  ["tem.scaleway.com", "scaleway"],
  ["tem.scw.cloud", "scaleway"],
  ["mailersend.net", "mailersend"],
];

/**
 * The header line by which a provider can identify the message later; "" for most providers. Postmark,
 * Mailjet and SparkPost return its value in their events ("Custom metadata FAQ", at most 80 characters;
 * "Event API"; "SMTP API").
 */
export function formatMetadataLine(provider: MailProvider | null, { id }: Identified): string {
  const name = provider && NAMES[provider];
  return name !== null && typeof name === "object" && "header" in name ? `${name.header(id)}\r\n` : "";
}

/** A message with our id, which is unique. The Message-ID of a message submitted over SMTP may not be. */
type Identified = { id: string; messageId?: string };

/** The provider's own id of a message that it accepted with this reply; null if there is none. */
export function providerIdOf(
  provider: MailProvider,
  reply: Reply | null,
  { id, messageId }: Identified,
): string | null {
  const name = NAMES[provider];
  const text = reply?.text.trim() ?? "";
  if (name === "Message-ID") return QUOTED_MESSAGE_ID.exec(text)?.[1] ?? messageId ?? null;
  return name instanceof RegExp ? (name.exec(text)?.[1] ?? null) : id;
}

/** The provider of an SMTP host; null for an unknown host. */
export function providerOfHost(host: string): MailProvider | null {
  const name = host.toLowerCase();
  return HOSTS.find(([suffix]) => name === suffix || name.endsWith(`.${suffix}`))?.[1] ?? null;
}
