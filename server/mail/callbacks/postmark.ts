import { metadataKey } from "../transport/provider-id";
import type { Scheme } from "./callback";
import { type Description, type Meaning, readEvents } from "./read-events";
import { bySecret } from "./secret";

/** Postmark's bounce types. Other types are automatic replies, or do not concern a delivery. */
const BOUNCES = new Map<string, Meaning>([
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
  ["Unsubscribe", "unsubscribed"],
]);

const TIMES: Readonly<Record<string, string>> = { Delivery: "DeliveredAt", SubscriptionChange: "ChangedAt" };

const DESCRIPTION: Description = {
  fields: (get) => {
    const record = get("RecordType");
    return {
      type: record,
      id: get("ID") && `${record} ${get("ID")}`,
      recipient: get("Recipient") ?? get("Email"),
      // Postmark's SMTP replies do not contain its message id, so our emails carry a metadata header instead.
      providerId: get(`Metadata.${metadataKey}`) ?? get("MessageID"),
      at: get(TIMES[record ?? ""] ?? "BouncedAt"),
      text: get("Details") ?? get("Description"),
      // `HardBounce` corresponds to no enhanced code: it has several causes.
      enhanced: get("Type") === "BadEmailAddress" ? "5.1.3" : null,
      lists: [get("MessageStream")],
    };
  },
  meanings: {
    Delivery: "delivered",
    Bounce: (get) => {
      const meaning = BOUNCES.get(get("Type") ?? "") ?? null;
      // Postmark deactivated the address: it sends no more email to it.
      return meaning === "bounced" && get("Inactive") === "true" ? "blocked" : meaning;
    },
    SpamComplaint: "complained",
    // The other causes of a suppression have events of their own. One that a member of the account adds or
    // removes names no email.
    SubscriptionChange: (get) =>
      get("SuppressSending") === "true" &&
      get("Origin") === "Recipient" &&
      get("SuppressionReason") === "ManualSuppression"
        ? "unsubscribed"
        : null,
  },
};

/** Postmark: "Bounce webhook", "Delivery webhook", "Spam complaint webhook" and "Subscription change". */
export const postmark: Scheme = {
  ...bySecret,
  read: (payload) => readEvents(DESCRIPTION, payload),
};
