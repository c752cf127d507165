import { z } from "zod";
import { postmarkMetadataKey } from "../transport/provider-id";
import { isEqual, type ProviderEvent, type Scheme } from "./callback";
import {
  OptionalNumber,
  OptionalText,
  optionalFields,
  parseId,
  parseRejection,
  parseReply,
  parseTime,
  withEnhancedCode,
} from "./provider-fields";

/** User name for HTTP basic authentication; the password is the secret. */
export const postmarkUser = "backstamp";

/** Alternative header for the secret. */
export const postmarkHeader = "x-callback-secret";

/** Postmark's bounce types by event kind. Other types are automatic replies, or do not concern a delivery. */
const KINDS = new Map<string, ProviderEvent["kind"]>([
  ...[
    "HardBounce",
    "SoftBounce",
    "Unknown",
    "SpamNotification",
    "VirusNotification",
    "BadEmailAddress",
    "ManuallyDeactivated",
    "Unconfirmed",
    "Blocked",
    "SMTPApiError",
    "DMARCPolicy",
  ].map((type) => [type, "bounced"] as const),
  ["Transient", "delayed"],
  ["DnsError", "delayed"],
  ["SpamComplaint", "complained"],
]);

const Event = z.object({
  RecordType: OptionalText,
  ID: OptionalNumber,
  Type: OptionalText,
  MessageID: OptionalText,
  Metadata: optionalFields({ [postmarkMetadataKey]: OptionalText }),
  Email: OptionalText,
  Recipient: OptionalText,
  Details: OptionalText,
  Description: OptionalText,
  DeliveredAt: OptionalText,
  BouncedAt: OptionalText,
});

/**
 * Postmark does not sign callbacks. Its documentation ("Webhooks overview", section "Protecting your
 * webhook") recommends basic authentication in the URL; its Webhooks API can also send custom headers.
 * Callbacks have no trusted timestamp, so an intercepted one can be replayed. A replay only repeats a
 * recorded event.
 */
export const postmark: Scheme = {
  authenticatesByHeader: true,
  verify({ header }, secret) {
    const [, basic] = /^Basic +([\w+/=-]{1,1024})$/i.exec(header("authorization") ?? "") ?? [];
    const given = basic === undefined ? null : Buffer.from(basic, "base64").toString();
    const isGiven = given !== null && isEqual(given, `${postmarkUser}:${secret}`);
    return isGiven || isEqual(header(postmarkHeader) ?? "", secret) ? "genuine" : "forged";
  },
  read(payload) {
    const read = Event.safeParse(payload);
    if (!read.success) return [];
    const { RecordType: record, ID: id, Type: type, MessageID: ownId, ...event } = read.data;
    // Postmark's SMTP replies do not contain its message id, so our emails carry a metadata header instead.
    const providerId = parseId(event.Metadata[postmarkMetadataKey]) ?? parseId(ownId);
    if (providerId === null) return [];
    const isDelivery = record === "Delivery";
    const recipient = isDelivery ? event.Recipient : event.Email;
    const common = {
      providerId,
      messageId: null,
      recipients: recipient ? [recipient] : [],
      host: null,
      appliesToAllRecipients: true,
      at: parseTime(isDelivery ? event.DeliveredAt : event.BouncedAt),
    };
    const deliveryId = `Delivery ${providerId} ${recipient}`;
    if (isDelivery)
      return [{ ...common, id: deliveryId, kind: "delivered", reply: parseReply(event.Details) }];
    const kind = KINDS.get(type ?? "");
    if ((record !== "Bounce" && record !== "SpamComplaint") || !kind || typeof id !== "number") return [];
    const reply = parseRejection(event.Details || event.Description, null);
    // `HardBounce` corresponds to no enhanced code: it has several causes.
    const code = type === "BadEmailAddress" ? "5.1.3" : undefined;
    return [{ ...common, id: `${record} ${id}`, kind, reply: withEnhancedCode(reply, code) }];
  },
};
