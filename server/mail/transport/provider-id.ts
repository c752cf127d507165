import type { Reply } from "../outcome";

/** Those whose replies are read, and who may tell what became of a mail later. */
export type MailProvider = "ses" | "postmark" | "mailgun" | "sendgrid" | "resend";

const UUID = /\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/i;

/**
 * Where in its 250 a provider says under which id it knows the message. SES says `Ok <id>`, SendGrid `Ok: queued as <id>`,
 * with which the `sg_message_id` of its events begins. Resend knows a mail by a UUID. Mailgun says none: it keeps our Message-ID
 * and goes by that. Postmark's `queued as` is the queue of one of its machines and in none of its events: it is given a mark.
 */
const SAID: Record<MailProvider, RegExp | null> = {
  ses: /^Ok ([0-9A-Za-z-]{20,100})$/i,
  sendgrid: /\bqueued as ([0-9A-Za-z_-]{8,100})$/i,
  resend: UUID,
  postmark: null,
  mailgun: null,
};

/** Ends of the names under which providers take mail. */
const HOSTS: readonly (readonly [end: string, provider: MailProvider])[] = [
  ["amazonaws.com", "ses"],
  ["postmarkapp.com", "postmark"],
  ["mailgun.org", "mailgun"],
  ["sendgrid.net", "sendgrid"],
  ["resend.com", "resend"],
];

/** The name under which Postmark tells our mark with each event. */
export const postmarkMark = "posthorn";

/**
 * The header line that a message gets for a provider, to be known by later; mostly none. Postmark keeps what such headers say
 * as metadata, takes them off and tells them in its webhooks ("Custom metadata FAQ"), 80 characters at most.
 */
export const markLineFor = (provider: MailProvider | null, messageId: string | undefined): string =>
  provider === "postmark" && messageId !== undefined
    ? `X-PM-Metadata-${postmarkMark}: ${markOf(messageId)}\r\n`
    : "";

/** What stands before the `@` is unique by itself, and short whatever the domain. */
const markOf = (messageId: string): string => messageId.split("@", 1)[0] ?? "";

/** The provider's own id of a message that it accepted with this reply; null where it says none. `messageId` is ours. */
export function providerIdOf(
  provider: MailProvider,
  reply: Reply | null,
  messageId: string | undefined,
): string | null {
  const form = SAID[provider];
  if (form === null)
    return messageId === undefined ? null : provider === "postmark" ? markOf(messageId) : messageId;
  return form.exec(reply?.text.trim() ?? "")?.[1] ?? null;
}

/** The provider whose server this is; null for any other. */
export function providerOfHost(host: string): MailProvider | null {
  const name = host.toLowerCase();
  return HOSTS.find(([end]) => name === end || name.endsWith(`.${end}`))?.[1] ?? null;
}
