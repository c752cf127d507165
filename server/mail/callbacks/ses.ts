import { z } from "zod";
import { isComplaint } from "../bounce/feedback";
import { CODE_OF_SUBTYPE, LISTED_SUBTYPES } from "./bounce-words";
import type { Told } from "./callback";
import {
  AllSaid,
  hostOf,
  idOf,
  messageIdOf,
  refusalOf,
  replyOf,
  Said,
  timeOf,
  withCode,
  wordsOf,
} from "./said";

const Recipient = z.object({ emailAddress: z.string().max(1_000), status: Said, diagnosticCode: Said });
const Recipients = z.array(Recipient).max(1_000).catch([]);

const Common = { timestamp: Said, reportingMTA: Said, feedbackId: Said };
const Event = z.object({
  notificationType: Said,
  eventType: Said,
  mail: z.object({
    messageId: Said,
    destination: AllSaid,
    headers: z
      .array(z.object({ name: z.string(), value: z.string() }))
      .max(2_000)
      .nullish()
      .catch(null),
  }),
  bounce: z
    .object({ bounceType: Said, bounceSubType: Said, bouncedRecipients: Recipients, ...Common })
    .nullish()
    .catch(null),
  complaint: z
    .object({
      complainedRecipients: Recipients,
      complaintFeedbackType: Said,
      complaintSubType: Said,
      ...Common,
    })
    .nullish()
    .catch(null),
  delivery: z
    .object({ recipients: AllSaid, smtpResponse: Said, ...Common })
    .nullish()
    .catch(null),
  deliveryDelay: z
    .object({ delayedRecipients: Recipients, ...Common })
    .nullish()
    .catch(null),
  reject: z.object({ reason: Said }).nullish().catch(null),
});
type Event = z.infer<typeof Event>;
type About = Pick<Told, "providerId" | "messageId">;

/**
 * What SES tells in a message of its topic: by its notifications ("Amazon SNS notification contents for Amazon SES") or by
 * the events of a configuration set, which differ by little. SES gives a mail an id and a Message-ID of its own; ours stands
 * among the headers, where they are included.
 */
export function readSes(payload: unknown): Told[] {
  const read = Event.safeParse(payload);
  if (!read.success) return [];
  const { mail, ...event } = read.data;
  const about: About = {
    providerId: idOf(mail.messageId),
    messageId: messageIdOf(mail.headers?.find(({ name }) => name.toLowerCase() === "message-id")?.value),
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
        reply: wordsOf(event.reject?.reason),
        host: null,
        isSure: true,
        at: null,
      }));
    default:
      return [];
  }
}

function readBounce(about: About, bounce: Event["bounce"]): Told[] {
  if (!bounce) return [];
  const { bounceType, bounceSubType: word, bouncedRecipients, reportingMTA, feedbackId, timestamp } = bounce;
  const isListed = LISTED_SUBTYPES.has(word ?? "");
  const code = Object.hasOwn(CODE_OF_SUBTYPE, word ?? "") ? CODE_OF_SUBTYPE[word ?? ""] : undefined;
  return bouncedRecipients.flatMap(({ emailAddress, status, diagnosticCode }) => {
    // A machine's answer for a person looks so: nothing was refused.
    if (bounceType === "Transient" && word === "General" && !status && !diagnosticCode) return [];
    const reply = isListed ? wordsOf(diagnosticCode) : withCode(refusalOf(diagnosticCode, status), code);
    return {
      ...about,
      id: feedbackId || `bounce ${about.providerId} ${timestamp}`,
      kind: "bounced" as const,
      recipients: [emailAddress],
      reply,
      host: hostOf(reportingMTA),
      isSure: true,
      at: timeOf(timestamp),
    };
  });
}

/** Few providers say who complained: SES then names everybody at that provider whom the mail went to. */
function readComplaint(about: About, complaint: Event["complaint"]): Told[] {
  if (!complaint) return [];
  const { complainedRecipients, complaintFeedbackType: type, complaintSubType: word, ...rest } = complaint;
  const isListed = LISTED_SUBTYPES.has(word ?? "");
  if (!isListed && type && !isComplaint(type)) return [];
  return complainedRecipients.map(({ emailAddress }) => ({
    ...about,
    id: rest.feedbackId || `complaint ${about.providerId} ${rest.timestamp}`,
    kind: isListed ? ("bounced" as const) : ("complained" as const),
    recipients: [emailAddress],
    reply: wordsOf(isListed ? "The address is on the suppression list of the SES account." : null),
    host: null,
    isSure: complainedRecipients.length === 1,
    at: timeOf(rest.timestamp),
  }));
}

function readDelivery(about: About, delivery: Event["delivery"]): Told[] {
  if (!delivery) return [];
  return delivery.recipients.map((address) => ({
    ...about,
    id: `delivery ${about.providerId} ${delivery.timestamp}`,
    kind: "delivered" as const,
    recipients: [address],
    reply: replyOf(delivery.smtpResponse),
    host: hostOf(delivery.reportingMTA),
    isSure: true,
    at: timeOf(delivery.timestamp),
  }));
}

function readDelay(about: About, delay: Event["deliveryDelay"]): Told[] {
  if (!delay) return [];
  return delay.delayedRecipients.map(({ emailAddress, status, diagnosticCode }) => ({
    ...about,
    id: `delay ${about.providerId} ${delay.timestamp}`,
    kind: "delayed" as const,
    recipients: [emailAddress],
    reply: refusalOf(diagnosticCode, status),
    host: hostOf(delay.reportingMTA),
    isSure: true,
    at: timeOf(delay.timestamp),
  }));
}
