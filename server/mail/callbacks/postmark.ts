import { z } from "zod";
import { postmarkMetadataKey } from "../transport/provider-id";
import type { ProviderEvent, Scheme } from "./callback";
import { isEqual } from "./equal";
import {
  OptionalText,
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

/** Event kind by Postmark's bounce type. Other types are automatic replies, or do not concern a delivery. */
const KINDS: Readonly<Record<string, ProviderEvent["kind"]>> = {
  HardBounce: "bounced",
  SoftBounce: "bounced",
  Unknown: "bounced",
  SpamNotification: "bounced",
  VirusNotification: "bounced",
  BadEmailAddress: "bounced",
  ManuallyDeactivated: "bounced",
  Unconfirmed: "bounced",
  Blocked: "bounced",
  SMTPApiError: "bounced",
  DMARCPolicy: "bounced",
  Transient: "delayed",
  DnsError: "delayed",
  SpamComplaint: "complained",
};

/** Bounce types that correspond to an enhanced code. `HardBounce` is not among them: it has several causes. */
const CODES: Readonly<Record<string, string>> = { BadEmailAddress: "5.1.3" };

const Event = z.object({
  RecordType: OptionalText,
  ID: z.number().nullish().catch(null),
  Type: OptionalText,
  MessageID: OptionalText,
  Metadata: z
    .object({ [postmarkMetadataKey]: OptionalText })
    .nullish()
    .catch(null),
  Email: OptionalText,
  Recipient: OptionalText,
  Details: OptionalText,
  Description: OptionalText,
  DeliveredAt: OptionalText,
  BouncedAt: OptionalText,
});

/**
 * Postmark does not sign callbacks. Its documentation ("Webhooks overview", section "Protecting your webhook") recommends
 * basic authentication in the URL; its Webhooks API can also send custom headers. Callbacks have no trusted timestamp, so
 * an intercepted one can be replayed. A replay only repeats a recorded event.
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
    // Postmark's SMTP replies do not contain its message id, so our emails carry a metadata mark instead.
    const providerId = parseId(event.Metadata?.[postmarkMetadataKey]) ?? parseId(ownId);
    if (providerId === null) return [];
    const about = { providerId, messageId: null, appliesToAllRecipients: true } as const;
    if (record === "Delivery") {
      const { Recipient: recipient } = event;
      return [
        {
          ...about,
          id: `Delivery ${providerId} ${recipient}`,
          kind: "delivered",
          recipients: recipient ? [recipient] : [],
          reply: parseReply(event.Details),
          host: null,
          at: parseTime(event.DeliveredAt),
        },
      ];
    }
    const kind = Object.hasOwn(KINDS, type ?? "") ? KINDS[type ?? ""] : undefined;
    if ((record !== "Bounce" && record !== "SpamComplaint") || !kind || typeof id !== "number") return [];
    const code = Object.hasOwn(CODES, type ?? "") ? CODES[type ?? ""] : undefined;
    return [
      {
        ...about,
        id: `${record} ${id}`,
        kind,
        recipients: event.Email ? [event.Email] : [],
        reply: withEnhancedCode(parseRejection(event.Details || event.Description, null), code),
        host: null,
        at: parseTime(event.BouncedAt),
      },
    ];
  },
};
