import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { judgeAge, type Scheme } from "./callback";
import { type Description, type Meaning, readEvents } from "./read-events";

/** SendGrid retries a callback for one day. */
const ageSecondsMax = 86_400;

/**
 * Why SendGrid dropped an email ("Drops" and "Event Webhook Reference"): an address on one of its lists, or a
 * limit of the account. All other reasons are about this email.
 */
const DROPS: readonly (readonly [reason: RegExp, meaning: Meaning])[] = [
  [/\bbounced address\b|^invalid\b/i, "listed_bounce"],
  [/\bspam report/i, "listed_complaint"],
  [/\bunsubscribed\b/i, "listed_unsubscribe"],
  [/\b(quota|credits|limit|smtpapi)\b/i, "failed"],
];

const DESCRIPTION: Description = {
  fields: (get) => ({
    type: get("event"),
    id: get("sg_event_id"),
    recipient: get("email"),
    // The id of the SMTP reply is the first part; SendGrid appends the names of its machines.
    providerId: get("sg_message_id")?.split(/\.(?:filter|recv)/, 1)[0] ?? null,
    messageId: get("smtp-id"),
    at: get("timestamp"),
    text: get("response") ?? get("reason"),
    // A dropped email met no server.
    enhanced: get("event") === "dropped" ? null : get("status"),
    lists: [get("asm_group_id")],
  }),
  meanings: {
    delivered: "delivered",
    deferred: "delayed",
    // A `blocked` message puts the address on no list.
    bounce: (get) => (get("type") === "blocked" ? "bounced" : "hard"),
    dropped: (_, text) => DROPS.find(([reason]) => reason.test(text))?.[1] ?? "bounced",
    spamreport: "complained",
    unsubscribe: "unsubscribed",
    group_unsubscribe: "unsubscribed",
  },
};

/**
 * SendGrid signs the timestamp and the bytes of a callback with ECDSA on P-256 and SHA-256 ("Getting Started
 * with the Event Webhook Security Features"). `secret` is the public verification key from its dashboard, DER
 * in Base64. It is not secret.
 */
export const sendgrid: Scheme = {
  verify({ header, bytes }, secret, now) {
    const key = parseVerificationKey(secret);
    const signature = header("x-twilio-email-event-webhook-signature") ?? "";
    const timestamp = header("x-twilio-email-event-webhook-timestamp") ?? "";
    if (!key || !/^\d{1,12}$/.test(timestamp) || !/^[\w+/=]{1,200}$/.test(signature)) return "forged";
    const signed = Buffer.concat([Buffer.from(timestamp), bytes]);
    if (!verify("sha256", signed, key, Buffer.from(signature, "base64"))) return "forged";
    return judgeAge(Number(timestamp), now, ageSecondsMax);
  },
  read: (payload) => readEvents(DESCRIPTION, payload),
};

/** Parses SendGrid's verification key, with or without PEM lines; null if it is not a P-256 key. */
export function parseVerificationKey(text: string): KeyObject | null {
  try {
    const der = Buffer.from(text.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : null;
  } catch {
    return null;
  }
}
