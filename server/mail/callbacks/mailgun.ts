import { createHmac } from "node:crypto";
import { z } from "zod";
import { type AddressVerdict, type Callback, isEqual, judgeAge, type Scheme } from "./callback";
import { readJson, withoutName } from "./provider-fields";
import { type Description, readEvents } from "./read-events";

/** Mailgun retries a callback for about eight hours and recommends a generous limit. */
export const mailgunAgeSecondsMax = 86_400;

const Signed = z.object({
  signature: z.object({
    timestamp: z.union([z.string().regex(/^\d{1,12}$/), z.int().nonnegative()]),
    token: z.string().min(1).max(200),
    signature: z.string().max(200),
  }),
});

/** Why Mailgun did not send an email: its code, or its reason ("Tracking failures" and "Event types"). */
const LISTED_BY = new Map<string, AddressVerdict>([
  ["605", "listed_bounce"],
  ["suppress-bounce", "listed_bounce"],
  ["606", "listed_unsubscribe"],
  ["suppress-unsubscribe", "listed_unsubscribe"],
  ["607", "listed_complaint"],
  ["suppress-complaint", "listed_complaint"],
]);

const STATUS = "event-data.delivery-status";

const DESCRIPTION: Description = {
  fields: (get) => ({
    type: get("event-data.event"),
    // Mailgun's event id is unique only within one day.
    id: get("event-data.id") && `${get("event-data.id")} ${get("event-data.timestamp")}`,
    // A rejection names the recipient only in a header.
    recipient: withoutName(get("event-data.recipient") ?? get("event-data.message.headers.to") ?? "") || null,
    messageId: get("event-data.message.headers.message-id"),
    at: get("event-data.timestamp"),
    text: get(`${STATUS}.message`) ?? get(`${STATUS}.description`) ?? get("event-data.reject.reason"),
    code: get(`${STATUS}.code`),
    enhanced: get(`${STATUS}.enhanced-code`),
    host: get(`${STATUS}.mx-host`),
  }),
  meanings: {
    delivered: "delivered",
    complained: "complained",
    unsubscribed: "unsubscribed",
    // By Mailgun itself, for a limit or the state of the account.
    rejected: "failed",
    failed: (get) => {
      const reason = get("event-data.reason") ?? "";
      if (get("event-data.severity") === "temporary") return "delayed";
      const listed = LISTED_BY.get(reason) ?? LISTED_BY.get(get(`${STATUS}.code`) ?? "");
      return listed ?? (reason === "bounce" ? "hard" : "bounced");
    },
  },
};

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
  read: (payload) => readEvents(DESCRIPTION, payload),
};

/** The one-time token of a callback; null if it has none. */
export const tokenOf = (callback: Callback): string | null => readSignature(callback)?.token ?? null;

const readSignature = (callback: Callback) => readJson(Signed, callback)?.signature ?? null;
