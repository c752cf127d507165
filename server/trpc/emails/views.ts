import { explainCode } from "#server/mail/replies/enhanced-codes";
import type { DelayCauses } from "#server/services/emails/change/delay-causes";
import { listWarnings } from "#server/services/emails/warnings";
import type { EmailEventDelivery } from "#server/services/webhooks/events/email-deliveries";
import { WAIT_RULES } from "#server/shared/wait-rule-words";
import { presentAttachment, type StoredFile } from "#server/shared/wire/attachment";
import {
  type Email,
  type EmailSummary,
  presentEmail,
  presentEmailSummary,
  presentRecipient,
} from "#server/shared/wire/email";

type RowFacts = { keyName: string | null; suppressed: number };

/** A row of the email list. `suppressed`: how many of several recipients are. */
export const viewEmailRow = (email: EmailSummary, { keyName, suppressed }: RowFacts) => ({
  ...presentEmailSummary(email),
  keyName,
  suppressed,
});
export type EmailRow = ReturnType<typeof viewEmailRow>;

/** An email without its bodies. */
export function viewEmail(
  email: Email,
  {
    causes,
    files,
    sendAgainFault,
  }: { causes: DelayCauses; files: StoredFile[]; sendAgainFault: string | null },
) {
  const { html: _html, text: _text, events, ...wire } = presentEmail(email);
  return {
    ...wire,
    templateName: email.templateName,
    idempotencyKey: email.idempotencyKey,
    sentAgainOf: email.sentAgainOf,
    sentAgainAs: email.sentAgainAs,
    /** Why it cannot be sent again as a new email; null if it can. */
    sendAgainFault,
    listUnsubscribe: email.listUnsubscribe,
    listName: email.listName,
    warnings: listWarnings(email),
    tracksOpens: email.tracksOpens,
    tracksClicks: email.tracksClicks,
    recipients: email.deliveries.map((delivery) => ({
      ...presentRecipient(delivery),
      host: delivery.lastHost,
      /** The meaning of the last reply code. */
      meaning: meaningOf({ code: delivery.lastCode, enhanced: delivery.lastEnhanced }),
    })),
    events: events.map((event) => ({
      ...event,
      meaning: event.data.reply ? meaningOf(event.data.reply) : null,
      ruleText: ruleTextOf(event.data.rule),
    })),
    files: files.map(presentAttachment),
    delays: {
      cap: causes.cap,
      relays: causes.relays.map(({ name, nextTryAt, fault, reason }) => ({
        name,
        nextAttemptAt: nextTryAt?.toISOString() ?? null,
        fault,
        reason,
      })),
    },
  };
}
export type EmailView = ReturnType<typeof viewEmail>;
export type RecipientView = EmailView["recipients"][number];
export type EventView = EmailView["events"][number];
export type FileView = EmailView["files"][number];

// Accepted replies need no explanation.
const meaningOf = (reply: { code: number | null; enhanced: string | null }): string | null =>
  reply.code !== null && reply.code < 400 ? null : explainCode(reply);

/** A rule that was recorded by another version may have no text. */
const ruleTextOf = (rule: string | null | undefined): string | null =>
  rule && Object.hasOwn(WAIT_RULES, rule) ? WAIT_RULES[rule as keyof typeof WAIT_RULES] : null;

/** An event delivery of an email. */
export const viewEmailEventDelivery = ({ dueAt, createdAt, last, ...delivery }: EmailEventDelivery) => ({
  ...delivery,
  createdAt: createdAt.toISOString(),
  /** Null if no further attempt is scheduled. */
  nextCallAt: delivery.status === "pending" ? timeOf(dueAt) : null,
  last: last && { ...last, sentAt: last.sentAt.toISOString() },
});
export type EmailEventDeliveryView = ReturnType<typeof viewEmailEventDelivery>;

// A delivery without a next attempt is due at PostgreSQL's `infinity`, which is not a valid date.
const timeOf = (at: Date): string | null => (Number.isFinite(at.getTime()) ? at.toISOString() : null);

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
