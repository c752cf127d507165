import { createHmac } from "node:crypto";
import { metadataKey } from "../transport/provider-id";
import { isEqual, type ProviderEvent, type Scheme } from "./callback";
import { type Description, type Get, type Meaning, readEvents } from "./read-events";
import { bySecret } from "./secret";

/** A reason on the side of the sender, such as a quota, a plan, or an account that is blocked. */
const isOfSender = (text: string): boolean =>
  /\b(quota|credits?|limit|plan|account|sender|sandbox|duplicate)\b/i.test(text);

const schemeOf = (description: Description): Scheme => ({
  ...bySecret,
  read: (payload) => readEvents(description, payload),
});

/**
 * Brevo: "Transactional webhooks" and the event names of its API reference. A `soft_bounce` is final, and a
 * `blocked` email was not sent: the contact is on the block list, unless the reason is about the sender.
 * Brevo identifies an email by the Message-ID of its SMTP reply.
 */
export const brevo = schemeOf({
  fields: (get) => ({
    type: get("event"),
    recipient: get("email"),
    messageId: get("message-id"),
    // The other times are in the time zone of the account.
    at: get("ts_epoch"),
    text: get("reason"),
  }),
  meanings: {
    delivered: "delivered",
    deferred: "delayed",
    soft_bounce: "bounced",
    hard_bounce: "hard",
    invalid_email: "hard",
    blocked: (_, text) => (isOfSender(text) ? "failed" : "listed"),
    error: "failed",
    spam: "complained",
    complaint: "complained",
    unsubscribe: "unsubscribed",
    unsubscribed: "unsubscribed",
  },
});

/**
 * Mailjet: "Event API: real-time notifications" with its table of errors. Its SMTP reply contains another id
 * than its events, which return the header X-MJ-CustomID.
 */
export const mailjet = schemeOf({
  fields: (get) => ({
    type: get("event"),
    recipient: get("email"),
    providerId: get("CustomID"),
    at: get("time"),
    text: get("smtp_reply") ?? get("comment") ?? get("error"),
    lists: [get("mj_list_id")],
  }),
  meanings: {
    sent: "delivered",
    bounce: (get) => {
      if (get("hard_bounce") !== "true") return get("error") === "greylisted" ? "delayed" : "bounced";
      return get("blocked") === "true" ? "blocked" : "hard";
    },
    blocked: (get) => MAILJET_BLOCKS.get(get("error") ?? "") ?? "bounced",
    spam: "complained",
    unsub: "unsubscribed",
  },
});

/** Why Mailjet did not send an email, by its error. All other errors are about this email. */
const MAILJET_BLOCKS = new Map<string, Meaning>([
  ["preblocked", "listed_bounce"],
  ["user unknown", "listed_bounce"],
  ["mailbox inactive", "listed_bounce"],
  ["spam reporter", "listed_complaint"],
  ["blacklisted", "listed"],
  ["invalid domain", "hard"],
  ["no mail host", "hard"],
  ["typofix", "hard"],
  ["sender blocked", "failed"],
  ["duplicate in campaign", "failed"],
  ["system issue", "failed"],
]);

/** SparkPost rejects an email for a suppressed address, or for the limit or the domain of the account. */
const ofSparkPostPolicy = (_: Get, text: string): Meaning => (/suppress/i.test(text) ? "listed" : "failed");

/**
 * SparkPost: "Event Webhooks API" and "Bounce classification codes". Events are in batches, each below its
 * class. Only metadata identifies an email that was sent by SMTP.
 */
export const sparkpost = schemeOf({
  fields: (get) => ({
    type: get("msys.*.type"),
    id: get("msys.*.event_id"),
    recipient: get("msys.*.raw_rcpt_to") ?? get("msys.*.rcpt_to"),
    providerId: get(`msys.*.rcpt_meta.${metadataKey}`),
    at: get("msys.*.timestamp"),
    text: get("msys.*.raw_reason") ?? get("msys.*.reason"),
    code: get("msys.*.error_code"),
  }),
  meanings: {
    delivery: "delivered",
    delay: "delayed",
    bounce: ofBounceClass,
    out_of_band: ofBounceClass,
    policy_rejection: ofSparkPostPolicy,
    generation_rejection: ofSparkPostPolicy,
    generation_failure: "failed",
    spam_complaint: "complained",
    list_unsubscribe: "unsubscribed",
    link_unsubscribe: "unsubscribed",
  },
});

function ofBounceClass(get: Get, text: string): Meaning {
  switch (get("msys.*.bounce_class")) {
    // Invalid recipient, and no recipient could be determined.
    case "10":
    case "30":
      return "hard";
    case "25":
      return /suppress/i.test(text) ? "listed" : "bounced";
    // Automatic replies, and a subscription.
    case "60":
    case "80":
    case "100":
      return null;
    case "90":
      return "unsubscribed";
    default:
      return "bounced";
  }
}

/**
 * MailerSend: "Webhooks" of its API reference, section "Security", and "SMTP relay": its reply contains the
 * id of the message. The signature has no time, so an intercepted callback can be replayed. A replay only
 * repeats a recorded event.
 */
export const mailersend: Scheme = {
  verify({ header, bytes }, secret) {
    const expected = createHmac("sha256", secret).update(bytes).digest("hex");
    return isEqual(header("signature")?.toLowerCase() ?? "", expected) ? "genuine" : "forged";
  },
  read: (payload) =>
    readEvents(
      {
        fields: (get) => ({
          type: get("type"),
          id: get("data.id"),
          recipient: get("data.email.recipient.email"),
          providerId: get("data.email.message.id"),
          at: get("data.created_at"),
          text: get("data.morph.reason") ?? get("data.morph.readable_reason"),
        }),
        meanings: {
          "activity.delivered": "delivered",
          "activity.deferred": "delayed",
          "activity.soft_bounced": "bounced",
          "activity.hard_bounced": "hard",
          "activity.spam_complaint": "complained",
          "activity.unsubscribed": "unsubscribed",
        },
      },
      payload,
    ),
};

/**
 * Scaleway Transactional Email: "Understanding Webhook event payloads". It identifies an email by its
 * Message-ID, which is among the headers. `email_spam` is a rejection of the content, not a complaint.
 */
export const parseScalewayEvents = (payload: unknown): ProviderEvent[] =>
  readEvents(
    {
      fields: (get) => ({
        type: get("type"),
        id: get("id"),
        recipient: get("email_to"),
        messageId: messageIdOf(get),
        at: get("created_at"),
        text: get("email_response_message") ?? get("email_error"),
        code: get("email_response_code"),
      }),
      meanings: {
        email_delivered: "delivered",
        email_deferred: "delayed",
        email_dropped: "bounced",
        email_mailbox_not_found: "hard",
        email_spam: "bounced",
        email_blocklisted: "listed",
      },
    },
    payload,
  );

const headersMax = 200;

/** The documentation calls the parts of a header `name` and `value`; events have been seen with `key`. */
function messageIdOf(get: Get): string | null {
  for (let at = 0; at < headersMax; at++) {
    const name = get(`email_headers.${at}.name`) ?? get(`email_headers.${at}.key`);
    if (name?.toLowerCase() === "message-id") return get(`email_headers.${at}.value`);
  }
  return null;
}
