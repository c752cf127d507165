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
} from "#server/services/emails/read/read";
import { Id, Time } from "#server/shared/wire/shapes";

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

/** Resend's closed set of states: some of its clients fail on any other value. `status` contains our more precise states. */
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

/** Opens and clicks count only if the worst recipient is sent or delivered: a failed or pending recipient has precedence. */
const lastEventOf = ({ status, engagement }: EmailSummary): (typeof LAST_EVENTS)[number] =>
  engagement !== null && (status === "sent" || status === "delivered") ? engagement : LAST_EVENT[status];

/** Why a delivery waits, as text. `held` is an unknown outcome that waits for a decision by the caller or a member. */
const RULES: Record<WaitRule | "held", string> = {
  retry_schedule: "The last attempt failed temporarily. The next attempt follows the retry schedule.",
  greylisted:
    "The destination uses greylisting: it defers unknown senders for a short time. The next attempt starts after that time.",
  transport_fault:
    "The relay rejects the login or the connection. It is retried every 15 minutes until an operator fixes it. The email does not fail in the meantime.",
  lease_expired:
    "The worker's lease expired before the email was sent. The delivery is due again immediately.",
  unknown_retry: "The outcome of the last attempt is unknown. The team's policy is to send again.",
  no_transport:
    "Outgoing email is not configured. Attempts start when the operator adds a relay or sets SMTP_URL.",
  released: "The worker shut down before the attempt. The delivery is due again immediately.",
  destination_pace:
    "Sending to this destination is throttled: it is slow, it reported a rate limit, or the operator limited it. The next attempt is due at the given time.",
  relay_paused:
    "All relays for this email are paused because of their own faults. Each relay is retried once a minute. The email does not fail in the meantime.",
  daily_cap: "The daily cap of the sender's domain is reached. Sending continues on the next day (UTC).",
  warm_up:
    "The sender's domain is warming up and today's limit is reached. The next day (UTC) has a higher limit.",
  team_daily_cap:
    "The team's daily cap, set by the operator, is reached. Sending continues on the next day (UTC).",
  held: "The outcome of the last attempt is unknown. The team's policy is to wait for a decision.",
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
    priority: z.enum(PRIORITIES),
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
export function emailSummaryJson(email: EmailSummary): z.infer<typeof EmailSummaryResponse> {
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
    last_event: lastEventOf(email),
    status: email.status,
    tags: email.tags,
    template_id: email.templateId,
    api_key_id: email.apiKeyId,
  };
}

/** A complete email with the state of each recipient and its events, oldest first. */
export function emailJson(email: Email): z.infer<typeof EmailResponse> {
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

/** One recipient: its state, its last reply, and the time and rule of the next attempt. */
export function recipientJson(delivery: Delivery): z.infer<typeof RecipientResponse> {
  const { status, attempts, lastCode, lastEnhanced, lastText, waitRule } = delivery;
  const standing = standingOf(delivery);
  const isPending = status === "queued" || status === "scheduled";
  const rule = isPending ? waitRule : status === "unknown" ? "held" : null;
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
    next_attempt_at: isPending ? isoOrNull(delivery.dueAt) : null,
    rule,
    rule_text: rule && RULES[rule],
  };
}

/** An event of one recipient, or of the whole email if `recipient` is null. */
export function eventJson(event: EmailEvent): z.infer<typeof EventResponse> {
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

/** ISO 8601; null for `infinity`, which means that no attempt is scheduled. A database time without a zone is UTC. */
function isoOrNull(time: Date | string | null): string | null {
  if (time === null) return null;
  const date =
    typeof time === "string" ? new Date(/(Z|[+-]\d\d(:?\d\d)?)$/.test(time) ? time : `${time}Z`) : time;
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
