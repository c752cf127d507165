import { z } from "zod";
import { isComplaint } from "../bounce/feedback";
import type { ProviderEvent } from "./callback";
import {
  ENHANCED_CODE_BY_SUBTYPE,
  OptionalText,
  optionalFields,
  parseHost,
  parseId,
  parseMessageId,
  parseRejection,
  parseReply,
  parseTime,
  replyFromText,
  TextList,
  verdictOf,
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
  bounce: optionalFields({
    bounceType: OptionalText,
    bounceSubType: OptionalText,
    bouncedRecipients: Recipients,
    ...Common,
  }),
  complaint: optionalFields({
    complainedRecipients: Recipients,
    complaintFeedbackType: OptionalText,
    complaintSubType: OptionalText,
    ...Common,
  }),
  delivery: optionalFields({ recipients: TextList, smtpResponse: OptionalText, ...Common }),
  deliveryDelay: optionalFields({ delayedRecipients: Recipients, ...Common }),
  reject: optionalFields({ reason: OptionalText }),
  subscription: optionalFields({
    newTopicPreferences: optionalFields({
      unsubscribeAll: z.boolean().catch(false),
      topicSubscriptionStatus: z
        .array(z.object({ topicName: OptionalText, subscriptionStatus: OptionalText }))
        .max(100)
        .catch([]),
    }),
    ...Common,
  }),
});
type Event = z.infer<typeof Event>;
type Facts = Pick<Event["bounce"], keyof typeof Common>;
/** What an event says about one recipient. */
type Part = Pick<ProviderEvent, "kind" | "reply" | "verdict" | "lists"> & {
  address: string;
  appliesToAllRecipients?: boolean;
};

/**
 * Parses an SES notification ("Amazon SNS notification contents for Amazon SES") or an event of a
 * configuration set; the two formats differ slightly. SES assigns its own id and Message-ID to an email. Our
 * Message-ID is among the headers, if the notification includes them.
 */
export function parseSesEvents(payload: unknown): ProviderEvent[] {
  const read = Event.safeParse(payload);
  if (!read.success) return [];
  const { mail, bounce, complaint, delivery, deliveryDelay, reject, subscription, ...event } = read.data;
  const providerId = parseId(mail.messageId);
  const header = mail.headers?.find(({ name }) => name.toLowerCase() === "message-id");
  const messageId = parseMessageId(header?.value);
  const createEvents = (
    id: string,
    { feedbackId, timestamp, reportingMTA }: Facts,
    parts: Part[],
  ): ProviderEvent[] =>
    parts.map(({ address, ...part }) => ({
      providerId,
      messageId,
      id: feedbackId || id,
      recipients: [address],
      host: parseHost(reportingMTA),
      at: parseTime(timestamp),
      appliesToAllRecipients: true,
      ...part,
    }));
  switch (event.eventType ?? event.notificationType) {
    case "Bounce":
      return createEvents(`bounce ${providerId} ${bounce.timestamp}`, bounce, readBounce(bounce));
    case "Complaint":
      return createEvents(
        `complaint ${providerId} ${complaint.timestamp}`,
        // A complaint comes from the recipient's provider, not from the host that received the email.
        { feedbackId: complaint.feedbackId, timestamp: complaint.timestamp },
        readComplaint(complaint),
      );
    case "Delivery": {
      const reply = parseReply(delivery.smtpResponse);
      const parts = delivery.recipients.map((address): Part => ({ address, kind: "delivered", reply }));
      return createEvents(`delivery ${providerId} ${delivery.timestamp}`, delivery, parts);
    }
    case "DeliveryDelay": {
      const parts = deliveryDelay.delayedRecipients.map(
        ({ emailAddress: address, diagnosticCode, status }): Part => {
          return { address, kind: "delayed", reply: parseRejection(diagnosticCode, status) };
        },
      );
      return createEvents(`delay ${providerId} ${deliveryDelay.timestamp}`, deliveryDelay, parts);
    }
    case "Reject": {
      const reply = replyFromText(reject.reason);
      const parts = mail.destination.map((address): Part => ({ address, kind: "bounced", reply }));
      return createEvents(`reject ${providerId}`, {}, parts);
    }
    case "Subscription": {
      const lists = findOptOuts(subscription.newTopicPreferences);
      const reply = replyFromText(null);
      const parts = mail.destination.map(
        (address): Part => ({
          address,
          kind: "unsubscribed",
          lists: lists ?? [],
          reply,
          appliesToAllRecipients: mail.destination.length === 1,
        }),
      );
      const id = `subscription ${providerId} ${subscription.timestamp}`;
      return lists === null ? [] : createEvents(id, subscription, parts);
    }
    default:
      return [];
  }
}

/** The topics that a recipient no longer receives; none for all email. Null without an unsubscribe. */
function findOptOuts({
  unsubscribeAll,
  topicSubscriptionStatus,
}: Event["subscription"]["newTopicPreferences"]): string[] | null {
  if (unsubscribeAll) return [];
  const topics = topicSubscriptionStatus.flatMap(({ topicName, subscriptionStatus }) =>
    topicName && /^opt_?out$/i.test(subscriptionStatus ?? "") ? [topicName] : [],
  );
  return topics.length > 0 ? topics : null;
}

function readBounce({ bounceType, bounceSubType, bouncedRecipients }: Event["bounce"]): Part[] {
  const subtype = bounceSubType ?? "";
  return bouncedRecipients.flatMap(({ emailAddress: address, status, diagnosticCode }): Part[] => {
    // SES reports automatic replies in this form. They are not bounces.
    if (bounceType === "Transient" && subtype === "General" && !status && !diagnosticCode) return [];
    const verdict = verdictOf(bounceType, subtype);
    const reply = verdict?.startsWith("listed")
      ? replyFromText(diagnosticCode)
      : withEnhancedCode(parseRejection(diagnosticCode, status), ENHANCED_CODE_BY_SUBTYPE.get(subtype));
    return [{ address, kind: "bounced", ...(verdict && { verdict }), reply }];
  });
}

/**
 * Few mailbox providers name the complainant. Otherwise SES lists all recipients of the email at that
 * provider.
 */
function readComplaint(complaint: Event["complaint"]): Part[] {
  const { complainedRecipients, complaintFeedbackType: type, complaintSubType: subtype } = complaint;
  const isSuppressed = verdictOf(null, subtype) !== undefined;
  if (!isSuppressed && type && !isComplaint(type)) return [];
  return complainedRecipients.map(
    ({ emailAddress: address }): Part => ({
      address,
      ...(isSuppressed ? { kind: "bounced", verdict: "listed_complaint" } : { kind: "complained" }),
      reply: replyFromText(
        isSuppressed ? "The address is on the suppression list of the SES account." : null,
      ),
      appliesToAllRecipients: complainedRecipients.length === 1,
    }),
  );
}
