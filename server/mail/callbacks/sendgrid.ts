import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { z } from "zod";
import { judgeAge, type ProviderEvent, type Scheme } from "./callback";
import {
  OptionalNumber,
  OptionalText,
  parseId,
  parseMessageId,
  parseRejection,
  parseReply,
  parseTime,
  replyFromText,
} from "./provider-fields";

/** SendGrid retries a callback for one day. */
const ageSecondsMax = 86_400;

const Event = z.object({
  event: OptionalText,
  email: OptionalText,
  sg_event_id: OptionalText,
  sg_message_id: OptionalText,
  "smtp-id": OptionalText,
  timestamp: OptionalNumber,
  reason: OptionalText,
  response: OptionalText,
  status: OptionalText,
});

const KINDS = new Map<string, ProviderEvent["kind"]>([
  ["delivered", "delivered"],
  ["deferred", "delayed"],
  ["bounce", "bounced"],
  ["dropped", "bounced"],
  ["spamreport", "complained"],
]);

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
  read(payload) {
    const events = z.array(z.unknown()).max(10_000).safeParse(payload);
    return events.success ? events.data.flatMap(readEvent) : [];
  },
};

function readEvent(value: unknown): ProviderEvent[] {
  const read = Event.safeParse(value);
  if (!read.success) return [];
  const { event, email, sg_event_id: id, status, reason, response, ...rest } = read.data;
  const kind = KINDS.get(event ?? "");
  if (!kind || !id) return [];
  const parseSmtpReply = () =>
    kind === "delivered" ? parseReply(response) : parseRejection(response || reason, status);
  return [
    {
      id,
      kind,
      recipients: email ? [email] : [],
      providerId: parseId(readReplyId(rest.sg_message_id ?? "")),
      messageId: parseMessageId(rest["smtp-id"]),
      reply: event === "dropped" ? replyFromText(reason) : parseSmtpReply(),
      host: null,
      appliesToAllRecipients: true,
      at: parseTime(rest.timestamp),
    },
  ];
}

/**
 * The id of the SMTP reply is the first part of the event's message id; SendGrid appends the names of its
 * machines.
 */
const readReplyId = (eventId: string): string => eventId.split(/\.(?:filter|recv)/, 1)[0] ?? eventId;

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
