import { explainCode } from "#server/mail/replies/enhanced-codes";
import type { Holds } from "#server/services/emails/change/delay-causes";
import type { StoredFile } from "#server/services/emails/read/files";
import {
  type Delivery,
  type Email,
  type EmailEvent,
  type EmailSummary,
  standingOf,
} from "#server/services/emails/read/read";
import type { EmailEventDelivery } from "#server/services/webhooks/events/email-deliveries";

/** A row of the email list. Times are ISO 8601. */
export function viewEmailRow(email: EmailSummary, keyName: string | null) {
  const others = email.to.length + email.cc.length + email.bcc.length - 1;
  return {
    id: email.id,
    status: email.status,
    /** The first recipient, and the number of others. */
    recipient: email.to[0] ?? "",
    others,
    subject: email.subject,
    keyName,
    createdAt: email.createdAt.toISOString(),
  };
}
export type EmailRow = ReturnType<typeof viewEmailRow>;

/** An email without its bodies. */
export function viewEmail(email: Email, holds: Holds, files: StoredFile[]) {
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
    keyId: email.apiKeyId,
    keyName: email.keyName,
    template: email.templateId === null ? null : { id: email.templateId, name: email.templateName },
    priority: email.priority,
    listUnsubscribe: email.listUnsubscribe,
    tracksOpens: email.tracksOpens,
    tracksClicks: email.tracksClicks,
    createdAt: email.createdAt.toISOString(),
    scheduledAt: email.scheduledAt?.toISOString() ?? null,
    recipients: email.deliveries.map(viewDelivery),
    events: email.events.map(viewEvent),
    files: files.map(viewFile),
    holds: {
      cap: holds.cap,
      relays: holds.relays.map(({ name, nextTryAt, fault }) => ({
        name,
        nextTryAt: nextTryAt.toISOString(),
        fault,
      })),
    },
  };
}
export type EmailView = ReturnType<typeof viewEmail>;
export type RecipientView = EmailView["recipients"][number];
export type EventView = EmailView["events"][number];
export type FileView = EmailView["files"][number];

const viewFile = ({ id, filename, contentType, contentId, sizeBytes }: StoredFile) => ({
  id,
  filename,
  contentType,
  /** Set for inline files, which the HTML refers to. */
  contentId,
  sizeBytes,
});

/** An event delivery of an email. */
export const viewEmailEventDelivery = ({ dueAt, createdAt, last, ...told }: EmailEventDelivery) => ({
  ...told,
  createdAt: createdAt.toISOString(),
  /** Null if no further attempt is scheduled. */
  nextCallAt: told.status === "pending" ? timeOf(dueAt) : null,
  last: last && { ...last, sentAt: last.sentAt.toISOString() },
});
export type EmailEventDeliveryView = ReturnType<typeof viewEmailEventDelivery>;

function viewDelivery(delivery: Delivery) {
  const { lastCode, lastEnhanced, lastText } = delivery;
  const { status, advice } = standingOf(delivery);
  const isPending = delivery.status === "queued" || delivery.status === "scheduled";
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
    /** The meaning of the last reply code. */
    meaning: meaningOf({ code: lastCode, enhanced: lastEnhanced }),
    advice,
    relay: delivery.relay,
    /** The message id of the relay's provider. */
    providerId: delivery.providerId,
    nextAttemptAt: isPending ? timeOf(delivery.dueAt) : null,
    rule: isPending ? delivery.waitRule : null,
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
    meaning: reply ? meaningOf(reply) : null,
    reason: event.data.reason ?? null,
    advice: event.data.advice ?? null,
    visit: event.data.visit ?? null,
    nextAttemptAt: event.data.nextAttemptAt ? inUtc(event.data.nextAttemptAt) : null,
    rule: event.data.rule ?? null,
    policy: event.data.policy ?? null,
    dialogue: event.data.dialogue ?? null,
  };
}

// Accepted replies need no explanation.
const meaningOf = (reply: { code: number | null; enhanced: string | null }): string | null =>
  reply.code !== null && reply.code < 400 ? null : explainCode(reply);

// A delivery without a next attempt is due at PostgreSQL's `infinity`, which is not a valid date.
const timeOf = (at: Date): string | null => (Number.isFinite(at.getTime()) ? at.toISOString() : null);

// PostgreSQL writes timestamps into JSON without a zone, which a browser would read as local time.
const inUtc = (text: string): string => (/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);

const textCharsMax = 200_000;
/** Matches within one tag only, in linear time: the HTML is untrusted and may contain a million `<`. */
const REMOTE_IMAGE = /<(?:img|source|video|input|td|table|body|image)\b[^<>]*\bhttps?:|url\(\s*['"]?https?:/i;

/** The message content that a page contains; the HTML is only rendered in its own document. */
export function viewContent(email: Email) {
  return {
    hasHtml: email.html !== null,
    /** Whether the HTML loads images from other hosts. */
    hasRemoteImages: email.html !== null && REMOTE_IMAGE.test(email.html),
    text: email.text?.slice(0, textCharsMax) ?? null,
    isTextCut: (email.text?.length ?? 0) > textCharsMax,
  };
}
export type EmailContent = ReturnType<typeof viewContent>;
