import { z } from "zod";
import { DELIVERY_STATUSES, type deliveries, type PauseRule, type WaitRule } from "#db/schema/deliveries";
import { EMAIL_STATUSES, type emails, PRIORITIES } from "#db/schema/emails";
import { EVENT_TYPES, type EventData, type emailEvents } from "#db/schema/events";
import type { Status } from "../email-words";
import { REPLY_CLASSES, type ReplyClass } from "../reply-classes";
import { WAIT_RULES } from "../wait-rule-words";
import { Id, present, Time } from "./shapes";

export type EmailSummary = typeof emails.$inferSelect;
export type Delivery = typeof deliveries.$inferSelect & {
  /** The name of the relay of the last attempt; null if `SMTP_URL` was used or the relay was removed. */
  relay: string | null;
  /** The status as it is shown: a queued delivery with at least one attempt is `deferred`. */
  displayStatus: Status;
  /** They explain the last rejection; null if the last reply was not a rejection. */
  replyClass: ReplyClass | null;
  advice: string | null;
  /** The pause that it waits for, with the operator's reason; null if none applies. */
  pause: { rule: PauseRule; reason: string } | null;
};
export type EmailEvent = typeof emailEvents.$inferSelect;
export type Email = EmailSummary & {
  html: string | null;
  text: string | null;
  /** The `Idempotency-Key` with which it was sent. Null without one, and after the content was erased. */
  idempotencyKey: string | null;
  /** The email whose content this one repeats, and the last one that repeats this content. */
  sentAgainOf: string | null;
  sentAgainAs: string | null;
  /** A program submitted it over SMTP as a complete message. */
  isSubmitted: boolean;
  /**
   * The content was erased, by the team's retention settings or on request: the email can be viewed but not
   * sent again.
   */
  isErased: boolean;
  keyName: string | null;
  /** Null if no template was used, or it was deleted. */
  templateName: string | null;
  deliveries: Delivery[];
  events: EmailEvent[];
};

/**
 * Resend's closed set of states: some of its clients fail on any other value. `status` contains our more
 * precise states.
 */
const LAST_EVENTS = [
  "complained",
  "bounced",
  "failed",
  "delivery_delayed",
  "queued",
  "scheduled",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "suppressed",
  "canceled",
] as const;

/**
 * Opens and clicks count only if the worst recipient is sent or delivered: a failed or pending recipient has
 * precedence.
 */
function lastEventOf({ status, engagement }: EmailSummary): (typeof LAST_EVENTS)[number] {
  if (status === "sent" || status === "delivered") return engagement ?? status;
  if (status === "unknown" || status === "deferred") return "delivery_delayed";
  return status === "sending" ? "queued" : status;
}

/** The name of a list. Pages, CSV files and headers show it, so it has no other characters. */
export const ListName = z
  .string("Must be a string.")
  .regex(
    /^[\p{L}\p{N}]([\p{L}\p{N} ._-]{0,62}[\p{L}\p{N}])?$/u,
    "Use 1 to 64 letters, digits, spaces, dots, hyphens and underscores, with a letter or digit first and last.",
  );

/** Fields of requests that are stored as options of an email (`EMAIL_OPTIONS`). */
export const EMAIL_OPTION_FIELDS = {
  list_unsubscribe: z
    .union(
      [
        z.boolean(),
        z.strictObject({ list: ListName.describe("The name of the list, which recipients read.") }),
      ],
      'Must be true or false, or { "list": "Product news" }. The name has 1 to 64 letters, digits, spaces, dots, hyphens and underscores.',
    )
    .describe(
      "Whether recipients can unsubscribe with one click (RFC 8058). A recipient who unsubscribes gets no further email that is sent with this field, or with this name of a list. Default: true if the content has the tag `{{UNSUBSCRIBE_URL}}`.",
    ),
  priority: z
    .enum(PRIORITIES, `Must be one of ${PRIORITIES.join(", ")}.`)
    .describe(
      "Of a team's due email, high priority is sent first; a part of each batch is reserved for the other priorities. Default: `normal`.",
    ),
};

const Mailboxes = z.array(z.string());

export const EmailSummaryResponse = z
  .object({
    id: Id,
    message_id: z.string().describe("The Message-ID header, the same in every attempt."),
    from: z.string(),
    to: Mailboxes,
    cc: Mailboxes,
    bcc: Mailboxes,
    reply_to: Mailboxes,
    subject: z.string(),
    created_at: Time,
    scheduled_at: Time.nullable(),
    priority: EMAIL_OPTION_FIELDS.priority,
    last_event: z.enum(LAST_EVENTS).describe("The state in the closed set of Resend."),
    status: z.enum(EMAIL_STATUSES).describe("The status of its worst recipient."),
    tags: z.array(z.object({ name: z.string(), value: z.string() })),
    template_id: Id.nullable(),
    api_key_id: Id.nullable(),
  })
  .meta({ id: "EmailSummary" });

const RecipientResponse = z
  .object({
    address: z.string(),
    kind: z.enum(["to", "cc", "bcc"]),
    status: z.enum([...DELIVERY_STATUSES, "deferred"]),
    attempts: z.int(),
    last_reply: z
      .object({
        code: z.int().nullable(),
        enhanced: z.string().nullable(),
        text: z.string().nullable(),
        host: z.string().nullable(),
      })
      .nullable(),
    relay: z
      .string()
      .nullable()
      .describe("The relay of the last attempt; null if the installation's default transport was used."),
    provider_id: z.string().nullable().describe("The id of the message at the relay's provider."),
    reason: z.string().nullable(),
    class: z
      .enum(REPLY_CLASSES)
      .nullable()
      .describe(
        "The cause of the rejection in the last reply. Only `hard` means that the address is invalid.",
      ),
    advice: z.string().nullable().describe("How to fix the cause."),
    next_attempt_at: Time.nullable(),
    rule: z.string().nullable().describe("Why the delivery waits. `rule_text` explains the rule."),
    rule_text: z.string().nullable(),
  })
  .meta({ id: "Recipient" });

export const EventResponse = z
  .object({
    id: Id,
    type: z.enum(EVENT_TYPES),
    recipient: z.string().nullable().describe("Null if the event concerns the whole email."),
    created_at: Time,
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "EmailEvent" });

export const EmailResponse = z
  .object({
    object: z.literal("email"),
    ...EmailSummaryResponse.shape,
    html: z.string().nullable(),
    text: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
    template_version_id: Id.nullable(),
    api_key_name: z.string().nullable(),
    recipients: z.array(RecipientResponse),
    events: z.array(EventResponse).describe("Oldest first."),
  })
  .meta({ id: "Email" });

/** An email without its bodies, as in lists. */
export const presentEmailSummary = (email: EmailSummary) =>
  present(EmailSummaryResponse, email, {
    message_id: `<${email.messageId}>`,
    from: email.sender,
    last_event: lastEventOf(email),
  });

/** A complete email with the state of each recipient and its events, oldest first. */
export function presentEmail(email: Email) {
  return {
    object: "email" as const,
    ...presentEmailSummary(email),
    html: email.html,
    text: email.text,
    headers: Object.fromEntries(email.headers.map(({ name, value }) => [name, value])),
    template_version_id: email.templateVersionId,
    api_key_name: email.keyName,
    recipients: email.deliveries.map(presentRecipient),
    events: email.events.map(presentEvent),
  };
}

/** One recipient: its state, its last reply, and the time and rule of the next attempt. */
export function presentRecipient(delivery: Delivery): z.infer<typeof RecipientResponse> {
  const { status, lastCode, lastEnhanced, lastText, pause } = delivery;
  const isPending = status === "queued" || status === "scheduled";
  const rule = isPending ? (pause?.rule ?? ruleOfRow(delivery)) : status === "unknown" ? "held" : null;
  return present(RecipientResponse, delivery, {
    status: delivery.displayStatus,
    last_reply:
      lastCode === null && lastText === null
        ? null
        : { code: lastCode, enhanced: lastEnhanced, text: lastText, host: delivery.lastHost },
    reason: delivery.lastReason,
    class: delivery.replyClass,
    next_attempt_at: isPending && !pause ? isoOrNull(delivery.dueAt) : null,
    rule,
    rule_text: rule && (pause ? `${WAIT_RULES[rule]} Reason: ${pause.reason}` : WAIT_RULES[rule]),
  });
}

const PAUSES: ReadonlySet<WaitRule> = new Set([
  "installation_paused",
  "team_paused",
  "team_deletion",
  "domain_paused",
]);

/** The rule in the row. The rule of a pause that has ended is ignored. */
const ruleOfRow = ({ waitRule }: Delivery): WaitRule | null =>
  waitRule !== null && PAUSES.has(waitRule) ? null : waitRule;

/** An event of one recipient, or of the whole email if `recipient` is null. */
export function presentEvent({ id, type, recipient, createdAt, data }: EmailEvent) {
  return { id, type, recipient, created_at: createdAt.toISOString(), data: presentEventData(data) };
}

function presentEventData({ nextAttemptAt, suppressedBy, replyRule, provider: _, ...data }: EventData) {
  return {
    ...data,
    ...(nextAttemptAt !== undefined && { next_attempt_at: isoOrNull(nextAttemptAt) }),
    ...(suppressedBy !== undefined && { suppressed_by: suppressedBy }),
    ...(replyRule !== undefined && { reply_rule: replyRule }),
  };
}

/**
 * ISO 8601; null for `infinity`, which means that no attempt is scheduled. A database time without a zone is
 * UTC.
 */
function isoOrNull(time: Date | string | null): string | null {
  if (time === null) return null;
  const date =
    typeof time === "string" ? new Date(/(Z|[+-]\d\d(:?\d\d)?)$/.test(time) ? time : `${time}Z`) : time;
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
