import type { Reply } from "../outcome";

/** Providers with known SMTP replies and supported callbacks. */
export type MailProvider = "ses" | "postmark" | "mailgun" | "sendgrid" | "resend";

const UUID = /\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/i;

/**
 * The provider's message id in its 250 reply. SES replies `Ok <id>`. SendGrid replies `Ok: queued as <id>`;
 * the `sg_message_id` of its events starts with this id. Resend uses a UUID. Mailgun returns no id and
 * identifies the message by its Message-ID. Postmark's `queued as` names the queue of one machine and appears
 * in no event: it gets a metadata header.
 */
const ID_PATTERNS: Record<MailProvider, RegExp | null> = {
  ses: /^Ok ([0-9A-Za-z-]{20,100})$/i,
  sendgrid: /\bqueued as ([0-9A-Za-z_-]{8,100})$/i,
  resend: UUID,
  postmark: null,
  mailgun: null,
};

/** Domain suffixes of the providers' SMTP hosts. */
const HOSTS: readonly (readonly [suffix: string, provider: MailProvider])[] = [
  ["amazonaws.com", "ses"],
  ["postmarkapp.com", "postmark"],
  ["mailgun.org", "mailgun"],
  ["sendgrid.net", "sendgrid"],
  ["resend.com", "resend"],
];

/** Key of our metadata in Postmark's events. */
export const postmarkMetadataKey = "backstamp";

/**
 * The header line by which a provider can identify the message later; "" for most providers. Postmark removes
 * such headers and returns their values as metadata in its webhooks ("Custom metadata FAQ"), at most 80
 * characters.
 */
export const formatMetadataLine = (provider: MailProvider | null, { id }: Identified): string =>
  provider === "postmark" ? `X-PM-Metadata-${postmarkMetadataKey}: ${id}\r\n` : "";

/** A message with our id, which is unique. The Message-ID of a message submitted over SMTP may not be. */
type Identified = { id: string; messageId?: string };

/** The provider's own id of a message that it accepted with this reply; null if there is none. */
export function providerIdOf(
  provider: MailProvider,
  reply: Reply | null,
  { id, messageId }: Identified,
): string | null {
  const pattern = ID_PATTERNS[provider];
  if (pattern === null) return provider === "postmark" ? id : (messageId ?? null);
  return pattern.exec(reply?.text.trim() ?? "")?.[1] ?? null;
}

/** The provider of an SMTP host; null for an unknown host. */
export function providerOfHost(host: string): MailProvider | null {
  const name = host.toLowerCase();
  return HOSTS.find(([suffix]) => name === suffix || name.endsWith(`.${suffix}`))?.[1] ?? null;
}
