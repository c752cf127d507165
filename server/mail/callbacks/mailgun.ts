import { createHmac } from "node:crypto";
import { z } from "zod";
import { type Callback, isEqual, judgeAge, type ProviderEvent, type Scheme } from "./callback";
import {
  OptionalNumber,
  OptionalText,
  optionalFields,
  parseHost,
  parseMessageId,
  parseRejection,
  parseReply,
  parseTime,
  readJson,
} from "./provider-fields";

/** Mailgun retries a callback for about eight hours and recommends a generous limit. */
export const mailgunAgeSecondsMax = 86_400;

const Signed = z.object({
  signature: z.object({
    timestamp: z.union([z.string().regex(/^\d{1,12}$/), z.int().nonnegative()]),
    token: z.string().min(1).max(200),
    signature: z.string().max(200),
  }),
});

const Event = z.object({
  "event-data": z.object({
    event: OptionalText,
    id: OptionalText,
    timestamp: OptionalNumber,
    severity: OptionalText,
    recipient: OptionalText,
    message: optionalFields({ headers: optionalFields({ "message-id": OptionalText }) }),
    "delivery-status": optionalFields({
      code: OptionalNumber,
      "enhanced-code": OptionalText,
      message: OptionalText,
      description: OptionalText,
      "mx-host": OptionalText,
    }),
    reject: optionalFields({ reason: OptionalText }),
  }),
});

const KINDS = new Map<string, ProviderEvent["kind"]>([
  ["delivered", "delivered"],
  ["complained", "complained"],
  ["rejected", "bounced"],
  ["failed", "bounced"],
]);

/**
 * Mailgun signs the timestamp and a token of each callback with HMAC-SHA-256 and the account's signing key
 * ("Securing Webhooks" in its user manual). The signature does not cover the body, so the caller must accept
 * each token with one body only: see `tokenOf`.
 */
export const mailgun: Scheme = {
  verify(callback, secret, now) {
    const signed = readSignature(callback);
    if (!signed) return "forged";
    const { timestamp, token, signature } = signed;
    const expected = createHmac("sha256", secret).update(`${timestamp}${token}`).digest("hex");
    if (!isEqual(signature.toLowerCase(), expected)) return "forged";
    return judgeAge(Number(timestamp), now, mailgunAgeSecondsMax);
  },
  read(payload) {
    const read = Event.safeParse(payload);
    if (!read.success) return [];
    const event = read.data["event-data"];
    const isTemporary = event.event === "failed" && event.severity === "temporary";
    const kind = isTemporary ? "delayed" : KINDS.get(event.event ?? "");
    if (!kind || !event.id) return [];
    const status = event["delivery-status"];
    const text = status.message || status.description || event.reject.reason;
    const messageId = parseMessageId(event.message.headers["message-id"]);
    const code = status.code ?? 0;
    const reply = code >= 200 && code < 600 ? `${code} ${text ?? ""}` : null;
    return [
      {
        // Mailgun's event id is unique only within one day.
        id: `${event.id} ${event.timestamp}`,
        kind,
        recipients: event.recipient ? [event.recipient] : [],
        // Mailgun identifies the email by our Message-ID.
        providerId: messageId,
        messageId,
        reply:
          kind === "delivered" ? parseReply(reply) : parseRejection(reply ?? text, status["enhanced-code"]),
        host: parseHost(status["mx-host"]),
        appliesToAllRecipients: true,
        at: parseTime(event.timestamp),
      },
    ];
  },
};

/** The one-time token of a callback; null if it has none. */
export const tokenOf = (callback: Callback): string | null => readSignature(callback)?.token ?? null;

const readSignature = (callback: Callback) => readJson(Signed, callback)?.signature ?? null;
