import type { EventData, Visit } from "#db/schema/events";
import { formatReply } from "#server/shared/email-words";
import type { EmailEvent, EmailSummary } from "#server/shared/wire/email";

/** An event of an email, with the fields of the email that its payload repeats. */
export type PayloadSource = Pick<EmailEvent, "type" | "recipient" | "data" | "createdAt" | "emailId"> &
  Pick<EmailSummary, "messageId" | "sender" | "to" | "subject" | "tags" | "headers" | "templateId"> & {
    /** The position of this event among the events of its email, from 1. */
    sequence: number;
    emailCreatedAt: Date;
  };

type Payload = { type: string; created_at: string; data: Record<string, unknown> };

/** The documented maximum size of a payload is 20 KB. */
const payloadBytesMax = 20_000;
const textCharsMax = 500;
const itemsMax = 20;

/** The body of an event that is not about an email. */
export const eventPayload = (type: string, createdAt: Date, data: Record<string, unknown>): string =>
  JSON.stringify({ type, created_at: createdAt.toISOString(), data });

/**
 * The request body for an event of an email: `{ type, created_at, data }` in the format of the Resend API,
 * plus `data.sequence`, by which a receiver can order events that arrive out of order: later events of a
 * recipient have higher numbers. Fields that would make it too large are shortened or omitted, and listed in
 * `data.truncated`. `renderPayloads` in render.ts calls it for events whose body is not stored yet.
 */
export function emailPayload(source: PayloadSource): string {
  const payload: Payload = {
    type: source.type,
    created_at: source.createdAt.toISOString(),
    data: { ...commonOf(source), ...detailOf(source) },
  };
  const whole = JSON.stringify(payload);
  return Buffer.byteLength(whole) < payloadBytesMax ? whole : JSON.stringify(shortened(payload));
}

function commonOf(source: PayloadSource): Record<string, unknown> {
  const { recipient, tags, headers, templateId } = source;
  return {
    email_id: source.emailId,
    created_at: source.emailCreatedAt.toISOString(),
    message_id: `<${source.messageId}>`,
    from: source.sender,
    to: recipient === null ? source.to : [recipient],
    subject: source.subject,
    sequence: source.sequence,
    ...(templateId === null ? {} : { template_id: templateId }),
    ...(tags.length === 0 ? {} : { tags: Object.fromEntries(tags.map(({ name, value }) => [name, value])) }),
    ...(headers.length === 0 ? {} : { headers: headers.map(({ name, value }) => ({ name, value })) }),
  };
}

function detailOf({ type, data, createdAt }: PayloadSource): Record<string, unknown> {
  switch (type) {
    case "email.bounced":
      return { bounce: bounceOf(data) };
    case "email.failed":
      return { failed: { reason: data.reason ?? "The email could not be sent." } };
    case "email.suppressed":
      return { suppressed: suppressedOf(data) };
    case "email.unknown":
      return {
        unknown: {
          reason: data.reason ?? "It is unknown whether the email was delivered.",
          policy: data.policy,
        },
      };
    case "email.opened":
      return { open: visitOf(data.visit, createdAt) };
    case "email.clicked":
      return { click: { link: data.visit?.link ?? null, ...visitOf(data.visit, createdAt) } };
    default:
      return {};
  }
}

/**
 * The fields of the Resend API, plus who made the request, as far as it can be detected: many opens are
 * automated.
 */
function visitOf(visit: Visit | undefined, at: Date): Record<string, unknown> {
  const { by = "reader", name = null, address = null, agent = null } = visit ?? {};
  return { ipAddress: address, timestamp: at.toISOString(), userAgent: agent, by, by_name: name };
}

/** Without `suppressedBy`, the recipient is a simulated one, which is on no list. */
function suppressedOf({ reason, reply, suppressedBy }: EventData): Record<string, unknown> {
  return {
    type: suppressedBy === undefined ? "Suppressed" : "OnAccountSuppressionList",
    message: reason ?? "The recipient is on the suppression list.",
    ...(suppressedBy === undefined ? {} : { reason: suppressedBy }),
    diagnosticCode: diagnosticCodes(reply),
  };
}

const cut = (text: string): string => {
  const characters = [...text];
  return characters.length > textCharsMax ? `${characters.slice(0, textCharsMax).join("")}…` : text;
};
const cutDeep = (value: unknown): unknown => {
  if (typeof value === "string") return cut(value);
  if (Array.isArray(value)) return value.slice(0, itemsMax).map(cutDeep);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutDeep(item)]));
};

/** What is shortened for size, least important first. The function returns the new value of the field. */
const SHORTENING: readonly (readonly [field: string, shorten: (value: unknown) => unknown])[] = [
  ["headers", () => undefined],
  // Server replies have no length limit.
  ["bounce", cutDeep],
  ["failed", cutDeep],
  ["suppressed", cutDeep],
  ["unknown", cutDeep],
  ["tags", () => undefined],
  ["subject", cutDeep],
  ["to", cutDeep],
];

function shortened(payload: Payload): Payload {
  let data = payload.data;
  const truncated: string[] = [];
  for (const [field, shorten] of SHORTENING) {
    if (!(field in data)) continue;
    truncated.push(field);
    data = { ...data, [field]: shorten(data[field]), truncated };
    if (Buffer.byteLength(JSON.stringify({ ...payload, data })) < payloadBytesMax) break;
  }
  return { ...payload, data };
}

type Reply = NonNullable<EventData["reply"]>;

/** Maps subject and detail of enhanced status codes (RFC 3463) to the subtypes of the Resend API. */
const SUBTYPE_BY_DETAIL: readonly (readonly [RegExp, string])[] = [
  [/^\d\.1\.(0|1|2|3|6|10)$/, "NoEmail"],
  [/^\d\.2\.1$/, "NoEmail"],
  [/^\d\.2\.2$/, "MailboxFull"],
  [/^\d\.(2\.3|3\.4)$/, "MessageTooLarge"],
  [/^\d\.6\.\d+$/, "ContentRejected"],
];
const SUBTYPE_BY_CODE: Record<number, string> = { 552: "MailboxFull" };

/** Maps the class of a rejection, which also considers its text, to the same subtypes. */
const SUBTYPE_BY_CLASS: Record<string, string> = {
  hard: "NoEmail",
  quota: "MailboxFull",
  size: "MessageTooLarge",
  content: "ContentRejected",
};

/** The `bounce` object of a payload: type and subtype as in the Resend API, and the server's own reply. */
export function bounceOf({ reply, reason, class: about, advice, replyRule }: EventData) {
  return {
    type: typeOf(reply ?? null),
    subType: about === undefined ? subTypeOf(reply ?? null) : (SUBTYPE_BY_CLASS[about] ?? "General"),
    message: reason ?? "The receiving server rejected the email.",
    diagnosticCode: diagnosticCodes(reply),
    ...(about === undefined ? {} : { class: about, advice }),
    ...(replyRule === undefined ? {} : { reply_rule: replyRule }),
  };
}

/** The reply as a Diagnostic-Code (RFC 3464); empty without a reply. */
export function diagnosticCodes(reply: EventData["reply"]): string[] {
  const text = formatReply(reply);
  return text === null ? [] : [`smtp; ${text}`];
}

function typeOf(reply: Reply | null): string {
  const digit = reply?.enhanced?.[0] ?? String(reply?.code ?? "")[0];
  return digit === "5" ? "Permanent" : digit === "4" ? "Transient" : "Undetermined";
}

function subTypeOf(reply: Reply | null): string {
  if (!reply) return "Undetermined";
  const { enhanced, code } = reply;
  const byDetail = enhanced && SUBTYPE_BY_DETAIL.find(([pattern]) => pattern.test(enhanced))?.[1];
  return byDetail || SUBTYPE_BY_CODE[code ?? 0] || "General";
}
