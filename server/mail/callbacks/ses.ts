import { z } from "zod";
import { isComplaint } from "../bounce/feedback";
import { ENHANCED_CODE_BY_SUBTYPE, SUPPRESSED_SUBTYPES } from "./bounce-subtypes";
import type { ProviderEvent } from "./callback";
import {
  OptionalText,
  parseHost,
  parseId,
  parseMessageId,
  parseRejection,
  parseReply,
  parseTime,
  replyFromText,
  TextList,
  withEnhancedCode,
} from "./provider-fields";

const Recipient = z.object({
  emailAddress: z.string().max(1_000),
  status: OptionalText,
  diagnosticCode: OptionalText,
});
const Recipients = z.array(Recipient).max(1_000).catch([]);

const Common = { timestamp: OptionalText, reportingMTA: OptionalText, feedbackId: OptionalText };
const Event = z.object({
  notificationType: OptionalText,
  eventType: OptionalText,
  mail: z.object({
    messageId: OptionalText,
    destination: TextList,
    headers: z
      .array(z.object({ name: z.string(), value: z.string() }))
      .max(2_000)
      .nullish()
      .catch(null),
  }),
  bounce: z
    .object({
      bounceType: OptionalText,
      bounceSubType: OptionalText,
      bouncedRecipients: Recipients,
      ...Common,
    })
    .nullish()
    .catch(null),
  complaint: z
    .object({
      complainedRecipients: Recipients,
      complaintFeedbackType: OptionalText,
      complaintSubType: OptionalText,
      ...Common,
    })
    .nullish()
    .catch(null),
  delivery: z
    .object({ recipients: TextList, smtpResponse: OptionalText, ...Common })
    .nullish()
    .catch(null),
  deliveryDelay: z
    .object({ delayedRecipients: Recipients, ...Common })
    .nullish()
    .catch(null),
  reject: z.object({ reason: OptionalText }).nullish().catch(null),
});
type Event = z.infer<typeof Event>;
type About = Pick<ProviderEvent, "providerId" | "messageId">;

/**
 * Parses an SES notification ("Amazon SNS notification contents for Amazon SES") or an event of a configuration set; the two
 * formats differ slightly. SES assigns its own id and Message-ID to an email. Our Message-ID is among the headers, if the
 * notification includes them.
 */
export function readSes(payload: unknown): ProviderEvent[] {
  const read = Event.safeParse(payload);
  if (!read.success) return [];
  const { mail, ...event } = read.data;
  const about: About = {
    providerId: parseId(mail.messageId),
    messageId: parseMessageId(mail.headers?.find(({ name }) => name.toLowerCase() === "message-id")?.value),
  };
  switch (event.eventType ?? event.notificationType) {
    case "Bounce":
      return readBounce(about, event.bounce);
    case "Complaint":
      return readComplaint(about, event.complaint);
    case "Delivery":
      return readDelivery(about, event.delivery);
    case "DeliveryDelay":
      return readDelay(about, event.deliveryDelay);
    case "Reject":
      return mail.destination.map((address) => ({
        ...about,
        id: `reject ${about.providerId}`,
        kind: "bounced",
        recipients: [address],
        reply: replyFromText(event.reject?.reason),
        host: null,
        appliesToAllRecipients: true,
        at: null,
      }));
    default:
      return [];
  }
}

function readBounce(about: About, bounce: Event["bounce"]): ProviderEvent[] {
  if (!bounce) return [];
  const {
    bounceType,
    bounceSubType: subtype,
    bouncedRecipients,
    reportingMTA,
    feedbackId,
    timestamp,
  } = bounce;
  const isSuppressed = SUPPRESSED_SUBTYPES.has(subtype ?? "");
  const code = Object.hasOwn(ENHANCED_CODE_BY_SUBTYPE, subtype ?? "")
    ? ENHANCED_CODE_BY_SUBTYPE[subtype ?? ""]
    : undefined;
  return bouncedRecipients.flatMap(({ emailAddress, status, diagnosticCode }) => {
    // SES reports automatic replies in this form. They are not bounces.
    if (bounceType === "Transient" && subtype === "General" && !status && !diagnosticCode) return [];
    const reply = isSuppressed
      ? replyFromText(diagnosticCode)
      : withEnhancedCode(parseRejection(diagnosticCode, status), code);
    return {
      ...about,
      id: feedbackId || `bounce ${about.providerId} ${timestamp}`,
      kind: "bounced" as const,
      recipients: [emailAddress],
      reply,
      host: parseHost(reportingMTA),
      appliesToAllRecipients: true,
      at: parseTime(timestamp),
    };
  });
}

/** Few mailbox providers name the complainant. Otherwise SES lists all recipients of the email at that provider. */
function readComplaint(about: About, complaint: Event["complaint"]): ProviderEvent[] {
  if (!complaint) return [];
  const { complainedRecipients, complaintFeedbackType: type, complaintSubType: subtype, ...rest } = complaint;
  const isSuppressed = SUPPRESSED_SUBTYPES.has(subtype ?? "");
  if (!isSuppressed && type && !isComplaint(type)) return [];
  return complainedRecipients.map(({ emailAddress }) => ({
    ...about,
    id: rest.feedbackId || `complaint ${about.providerId} ${rest.timestamp}`,
    kind: isSuppressed ? ("bounced" as const) : ("complained" as const),
    recipients: [emailAddress],
    reply: replyFromText(isSuppressed ? "The address is on the suppression list of the SES account." : null),
    host: null,
    appliesToAllRecipients: complainedRecipients.length === 1,
    at: parseTime(rest.timestamp),
  }));
}

function readDelivery(about: About, delivery: Event["delivery"]): ProviderEvent[] {
  if (!delivery) return [];
  return delivery.recipients.map((address) => ({
    ...about,
    id: `delivery ${about.providerId} ${delivery.timestamp}`,
    kind: "delivered" as const,
    recipients: [address],
    reply: parseReply(delivery.smtpResponse),
    host: parseHost(delivery.reportingMTA),
    appliesToAllRecipients: true,
    at: parseTime(delivery.timestamp),
  }));
}

function readDelay(about: About, delay: Event["deliveryDelay"]): ProviderEvent[] {
  if (!delay) return [];
  return delay.delayedRecipients.map(({ emailAddress, status, diagnosticCode }) => ({
    ...about,
    id: `delay ${about.providerId} ${delay.timestamp}`,
    kind: "delayed" as const,
    recipients: [emailAddress],
    reply: parseRejection(diagnosticCode, status),
    host: parseHost(delay.reportingMTA),
    appliesToAllRecipients: true,
    at: parseTime(delay.timestamp),
  }));
}
