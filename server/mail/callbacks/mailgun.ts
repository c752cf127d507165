import { createHmac } from "node:crypto";
import { z } from "zod";
import { judgeAge } from "./age";
import type { Callback, ProviderEvent, Scheme } from "./callback";
import { isEqual } from "./equal";
import {
  OptionalText,
  parseHost,
  parseMessageId,
  parseRejection,
  parseReply,
  parseTime,
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
    timestamp: z.number().nullish().catch(null),
    severity: OptionalText,
    recipient: OptionalText,
    message: z
      .object({ headers: z.object({ "message-id": OptionalText }).nullish().catch(null) })
      .nullish()
      .catch(null),
    "delivery-status": z
      .object({
        code: z.number().nullish().catch(null),
        "enhanced-code": OptionalText,
        message: OptionalText,
        description: OptionalText,
        "mx-host": OptionalText,
      })
      .nullish()
      .catch(null),
    reject: z.object({ reason: OptionalText }).nullish().catch(null),
  }),
});

/**
 * Mailgun signs the timestamp and a token of each callback with HMAC-SHA-256 and the account's signing key ("Securing
 * Webhooks" in its user manual). The signature does not cover the body, so the caller must accept each token with one body
 * only: see `tokenOf`.
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
    const kind = readKind(event.event, event.severity);
    if (!kind || !event.id) return [];
    const status = event["delivery-status"];
    const text = status?.message || status?.description || event.reject?.reason;
    const code = status?.code;
    const messageId = parseMessageId(event.message?.headers?.["message-id"]);
    const isReply = typeof code === "number" && code >= 200 && code < 600;
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
          kind === "delivered"
            ? parseReply(isReply ? `${code} ${text ?? ""}` : null)
            : parseRejection(isReply ? `${code} ${text ?? ""}` : text, status?.["enhanced-code"]),
        host: parseHost(status?.["mx-host"]),
        appliesToAllRecipients: true,
        at: parseTime(event.timestamp),
      },
    ];
  },
};

/** The one-time token of a callback; null if it has none. */
export const tokenOf = (callback: Callback): string | null => readSignature(callback)?.token ?? null;

function readSignature({ bytes }: Callback) {
  try {
    const read = Signed.safeParse(JSON.parse(Buffer.from(bytes).toString()));
    return read.success ? read.data.signature : null;
  } catch {
    return null;
  }
}

function readKind(
  event: string | null | undefined,
  severity: string | null | undefined,
): ProviderEvent["kind"] | null {
  switch (event) {
    case "delivered":
      return "delivered";
    case "complained":
      return "complained";
    case "rejected":
      return "bounced";
    case "failed":
      return severity === "temporary" ? "delayed" : "bounced";
    default:
      return null;
  }
}
