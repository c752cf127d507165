import { sayCode } from "#server/mail/replies/enhanced-codes";
import type { StoredFile } from "#server/services/emails/files";
import type { Holds } from "#server/services/emails/holds";
import {
  type Delivery,
  type Email,
  type EmailEvent,
  type EmailSummary,
  standingOf,
} from "#server/services/emails/read";
import type { ToldEvent } from "#server/services/webhooks/of-email";

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
  /** With one it stands in the HTML. */
  contentId,
  sizeBytes,
});

/** An endpoint's being told of something that happened to a mail. */
export const viewTold = ({ dueAt, createdAt, last, ...told }: ToldEvent) => ({
  ...told,
  createdAt: createdAt.toISOString(),
  /** Null where no further call is planned. */
  nextCallAt: told.status === "pending" ? timeOf(dueAt) : null,
  last: last && { ...last, sentAt: last.sentAt.toISOString() },
});
export type ToldView = ReturnType<typeof viewTold>;

function viewDelivery(delivery: Delivery) {
  const { lastCode, lastEnhanced, lastText } = delivery;
  const { status, advice } = standingOf(delivery);
  const isWaiting = delivery.status === "queued" || delivery.status === "scheduled";
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
    /** What the code of the last reply says, in words. */
    meaning: meaningOf({ code: lastCode, enhanced: lastEnhanced }),
    advice,
    relay: delivery.relay,
    /** What the relay's provider calls the message. */
    providerId: delivery.providerId,
    nextAttemptAt: isWaiting ? timeOf(delivery.dueAt) : null,
    rule: isWaiting ? delivery.waitRule : null,
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

// Of what was accepted there is nothing to explain.
const meaningOf = (reply: { code: number | null; enhanced: string | null }): string | null =>
  reply.code !== null && reply.code < 400 ? null : sayCode(reply);

// A row that cannot be attempted is due at PostgreSQL's `infinity`, which is no date.
const timeOf = (at: Date): string | null => (Number.isFinite(at.getTime()) ? at.toISOString() : null);

// PostgreSQL writes a time into JSON without its zone, which a browser would take for its own.
const inUtc = (text: string): string => (/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);

const textCharsMax = 200_000;
/** Looks from one `<` to the next only: mail is written by strangers, and may have a million of them. */
const REMOTE_IMAGE = /<(?:img|source|video|input|td|table|body|image)\b[^<>]*\bhttps?:|url\(\s*['"]?https?:/i;

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
