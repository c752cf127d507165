import {
  type Delivery,
  type Email,
  type EmailEvent,
  type EmailSummary,
  standingOf,
} from "#server/services/emails/read";

/** A mail as a line of the list. Times are ISO 8601. */
export function viewEmailRow(email: EmailSummary, keyName: string | null) {
  const others = email.to.length + email.cc.length + email.bcc.length - 1;
  return {
    id: email.id,
    status: email.status,
    /** The first recipient, and how many more there are. */
    recipient: email.to[0] ?? "",
    others,
    subject: email.subject,
    keyName,
    createdAt: email.createdAt.toISOString(),
  };
}
export type EmailRow = ReturnType<typeof viewEmailRow>;

/** A mail without its bodies: whatever can still change, and what it is known by. */
export function viewEmail(email: Email) {
  return {
    id: email.id,
    status: email.status,
    subject: email.subject,
    sender: email.sender,
    to: email.to,
    cc: email.cc,
    bcc: email.bcc,
    replyTo: email.replyTo,
    messageId: email.messageId,
    headers: email.headers,
    tags: email.tags,
    keyName: email.keyName,
    createdAt: email.createdAt.toISOString(),
    scheduledAt: email.scheduledAt?.toISOString() ?? null,
    recipients: email.deliveries.map(viewDelivery),
    events: email.events.map(viewEvent),
  };
}
export type EmailView = ReturnType<typeof viewEmail>;
export type RecipientView = EmailView["recipients"][number];
export type EventView = EmailView["events"][number];

function viewDelivery(delivery: Delivery) {
  const { lastCode, lastEnhanced, lastText } = delivery;
  const { status, advice } = standingOf(delivery);
  return {
    id: delivery.id,
    kind: delivery.kind,
    address: delivery.address,
    status,
    attempts: delivery.attempts,
    host: delivery.lastHost,
    reply:
      [lastCode, lastEnhanced, lastText].filter((part) => part !== null && part !== "").join(" ") || null,
    reason: delivery.lastReason,
    advice,
    nextAttemptAt: delivery.status === "queued" ? timeOf(delivery.dueAt) : null,
    rule: delivery.status === "queued" ? delivery.waitRule : null,
  };
}

function viewEvent(event: EmailEvent) {
  const { reply } = event.data;
  return {
    id: event.id,
    type: event.type,
    recipient: event.recipient,
    at: event.createdAt.toISOString(),
    attempt: event.data.attempt ?? null,
    host: event.data.host ?? null,
    reply: reply ? [reply.code, reply.enhanced, reply.text].filter((part) => part).join(" ") : null,
    reason: event.data.reason ?? null,
    nextAttemptAt: event.data.nextAttemptAt ? inUtc(event.data.nextAttemptAt) : null,
    rule: event.data.rule ?? null,
    policy: event.data.policy ?? null,
    dialogue: event.data.dialogue ?? null,
  };
}

// A row that cannot be attempted is due at PostgreSQL's `infinity`, which is no date.
const timeOf = (at: Date): string | null => (Number.isFinite(at.getTime()) ? at.toISOString() : null);

// PostgreSQL writes a time into JSON without its zone, which a browser would take for its own.
const inUtc = (text: string): string => (/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);

const textCharsMax = 200_000;
const REMOTE_IMAGE = /<(?:img|source|video|input|td|table|body|image)\b[^>]*\bhttps?:|url\(\s*['"]?https?:/i;

/** What a mail says, as far as a page holds it: its HTML is only ever shown by a document of its own. */
export function viewContent(email: Email) {
  return {
    hasHtml: email.html !== null,
    /** Whether it asks for pictures from other hosts. */
    hasRemoteImages: email.html !== null && REMOTE_IMAGE.test(email.html),
    text: email.text?.slice(0, textCharsMax) ?? null,
    isTextCut: (email.text?.length ?? 0) > textCharsMax,
  };
}
export type EmailContent = ReturnType<typeof viewContent>;
