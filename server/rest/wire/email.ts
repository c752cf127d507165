import { z } from "zod";
import { DELIVERY_STATUSES, type WaitRule } from "#db/schema/deliveries";
import { EMAIL_STATUSES, type EmailStatus, PRIORITIES } from "#db/schema/emails";
import { EVENT_TYPES, type EventData } from "#db/schema/events";
import { REPLY_CLASSES } from "#server/mail/replies/classes";
import {
  type Delivery,
  type Email,
  type EmailEvent,
  type EmailSummary,
  standingOf,
} from "#server/services/emails/read";
import { Id, Time } from "./shapes";

const LAST_EVENTS = [
  "complained",
  "bounced",
  "failed",
  "delivery_delayed",
  "queued",
  "scheduled",
  "sent",
  "delivered",
  "suppressed",
  "canceled",
] as const;

/** The dialect's closed set of states: its clients fail on any other word. Ours, which say more, stand in `status`. */
const LAST_EVENT: Record<EmailStatus, (typeof LAST_EVENTS)[number]> = {
  complained: "complained",
  bounced: "bounced",
  failed: "failed",
  unknown: "delivery_delayed",
  deferred: "delivery_delayed",
  sending: "queued",
  queued: "queued",
  scheduled: "scheduled",
  sent: "sent",
  delivered: "delivered",
  suppressed: "suppressed",
  canceled: "canceled",
};

/** Why a recipient waits, in words. `held` is a mail of unknown outcome that nobody tries again by himself. */
const RULES: Record<WaitRule | "held", string> = {
  retry_schedule: "The last attempt did not succeed; the next follows the retry schedule.",
  greylisted:
    "The server makes unknown senders wait a little; the next attempt comes when it is said to pass.",
  transport_fault:
    "The way out refuses our login or our connection. It is tried every quarter of an hour until an operator mends it; nothing is given up.",
  lease_expired: "The worker that had taken it stopped before handing it over; it is due again at once.",
  unknown_retry: "Whether the last attempt arrived is unknown, and the team's policy is to send again.",
  no_transport: "No way out is set up (SMTP_URL), so nothing can be attempted until there is one.",
  released: "The worker that had taken it stopped in order before trying; it is due again at once.",
  destination_pace:
    "The mail server that is to take it is slow, said that mail comes too fast, or is given no more by the operator; it is this mail's turn by then.",
  relay_paused:
    "No relay for it can be used at present, by a fault of the relay's own. Each is tried again once a minute; nothing is given up.",
  daily_cap:
    "As many recipients as the sender's domain is allowed in a day (UTC) were written to; the next day goes on.",
  warm_up:
    "The sender's domain is warmed up, and its number for this day (UTC) is used up; the next day allows more.",
  team_daily_cap:
    "As many recipients as the operator allows the team in a day (UTC) were written to; the next day goes on.",
  held: "Whether the last attempt arrived is unknown, and the team's policy is to wait for a decision.",
};

const Mailboxes = z.array(z.string());

export const EmailSummaryAnswer = z
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
    priority: z.enum(PRIORITIES),
    last_event: z.enum(LAST_EVENTS).describe("The closed set that clients of the dialect know."),
    status: z.enum(EMAIL_STATUSES).describe("That of its worst recipient."),
    tags: z.array(z.object({ name: z.string(), value: z.string() })),
    template_id: Id.nullable(),
    api_key_id: Id.nullable(),
  })
  .meta({ id: "EmailSummary" });

const RecipientAnswer = z
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
      .describe("The relay that was last asked; null where the installation's own way out was."),
    provider_id: z.string().nullable().describe("What the relay's provider calls the message."),
    reason: z.string().nullable(),
    class: z
      .enum(REPLY_CLASSES)
      .nullable()
      .describe("What the last reply's refusal is about. Only hard speaks of a dead address."),
    advice: z.string().nullable().describe("What would help against it."),
    next_attempt_at: Time.nullable(),
    rule: z.string().nullable().describe("The rule by which it waits, and beside it in words."),
    rule_text: z.string().nullable(),
  })
  .meta({ id: "Recipient" });

export const EventAnswer = z
  .object({
    id: Id,
    type: z.enum(EVENT_TYPES),
    recipient: z.string().nullable().describe("Null where it happened to the mail."),
    created_at: Time,
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "EmailEvent" });

export const EmailAnswer = z
  .object({
    object: z.literal("email"),
    ...EmailSummaryAnswer.shape,
    html: z.string().nullable(),
    text: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
    template_version_id: Id.nullable(),
    api_key_name: z.string().nullable(),
    recipients: z.array(RecipientAnswer),
    events: z.array(EventAnswer).describe("Oldest first."),
  })
  .meta({ id: "Email" });

/** One mail without its bodies, as lists show it. */
export function emailSummaryJson(email: EmailSummary): z.infer<typeof EmailSummaryAnswer> {
  return {
    id: email.id,
    message_id: `<${email.messageId}>`,
    from: email.sender,
    to: email.to,
    cc: email.cc,
    bcc: email.bcc,
    reply_to: email.replyTo,
    subject: email.subject,
    created_at: email.createdAt.toISOString(),
    scheduled_at: email.scheduledAt?.toISOString() ?? null,
    priority: email.priority,
    last_event: LAST_EVENT[email.status],
    status: email.status,
    tags: email.tags,
    template_id: email.templateId,
    api_key_id: email.apiKeyId,
  };
}

/** One mail whole, with what became of each recipient and everything that happened, oldest first. */
export function emailJson(email: Email): z.infer<typeof EmailAnswer> {
  return {
    object: "email",
    ...emailSummaryJson(email),
    html: email.html,
    text: email.text,
    headers: Object.fromEntries(email.headers.map(({ name, value }) => [name, value])),
    template_version_id: email.templateVersionId,
    api_key_name: email.keyName,
    recipients: email.deliveries.map(recipientJson),
    events: email.events.map(eventJson),
  };
}

/** One recipient: its state, its last reply, and when and by which rule it is tried again. */
export function recipientJson(delivery: Delivery): z.infer<typeof RecipientAnswer> {
  const { status, attempts, lastCode, lastEnhanced, lastText, waitRule } = delivery;
  const standing = standingOf(delivery);
  const isWaiting = status === "queued" || status === "scheduled";
  const rule = isWaiting ? waitRule : status === "unknown" ? "held" : null;
  return {
    address: delivery.address,
    kind: delivery.kind,
    status: standing.status,
    attempts,
    last_reply:
      lastCode === null && lastText === null
        ? null
        : { code: lastCode, enhanced: lastEnhanced, text: lastText, host: delivery.lastHost },
    relay: delivery.relay,
    provider_id: delivery.providerId,
    reason: delivery.lastReason,
    class: standing.class,
    advice: standing.advice,
    next_attempt_at: isWaiting ? isoOrNull(delivery.dueAt) : null,
    rule,
    rule_text: rule && RULES[rule],
  };
}

/** Something that happened, to one recipient or, where that is null, to the mail. */
export function eventJson(event: EmailEvent): z.infer<typeof EventAnswer> {
  return {
    id: event.id,
    type: event.type,
    recipient: event.recipient,
    created_at: event.createdAt.toISOString(),
    data: eventDataJson(event.data),
  };
}

function eventDataJson(data: EventData): Record<string, unknown> {
  const { nextAttemptAt, suppressedBy, ...rest } = data;
  return {
    ...rest,
    ...(nextAttemptAt === undefined ? {} : { next_attempt_at: isoOrNull(nextAttemptAt) }),
    ...(suppressedBy === undefined ? {} : { suppressed_by: suppressedBy }),
  };
}

/** Null for `infinity`: nothing is planned. A time of the database's that names no zone is UTC. */
function isoOrNull(time: Date | string | null): string | null {
  if (time === null) return null;
  const date =
    typeof time === "string" ? new Date(/(Z|[+-]\d\d(:?\d\d)?)$/.test(time) ? time : `${time}Z`) : time;
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
