import { createHmac } from "node:crypto";
import { z } from "zod";
import { judgeAge } from "./age";
import type { Callback, Scheme, Told } from "./callback";
import { hostOf, messageIdOf, refusalOf, replyOf, Said, timeOf } from "./said";
import { isSame } from "./same";

/** Mailgun repeats a call for about eight hours, and warns of limits that are tight. */
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
    event: Said,
    id: Said,
    timestamp: z.number().nullish().catch(null),
    severity: Said,
    recipient: Said,
    message: z
      .object({ headers: z.object({ "message-id": Said }).nullish().catch(null) })
      .nullish()
      .catch(null),
    "delivery-status": z
      .object({
        code: z.number().nullish().catch(null),
        "enhanced-code": Said,
        message: Said,
        description: Said,
        "mx-host": Said,
      })
      .nullish()
      .catch(null),
    reject: z.object({ reason: Said }).nullish().catch(null),
  }),
});

/**
 * Mailgun signs the time and a token of each call with HMAC-SHA-256 under the account's signing key ("Securing Webhooks" of
 * its user manual). What the call says is not in the signature, so a token may be used for one body alone: see `tokenOf`.
 */
export const mailgun: Scheme = {
  verify(callback, secret, now) {
    const signed = signatureOf(callback);
    if (!signed) return "forged";
    const { timestamp, token, signature } = signed;
    const expected = createHmac("sha256", secret).update(`${timestamp}${token}`).digest("hex");
    if (!isSame(signature.toLowerCase(), expected)) return "forged";
    return judgeAge(Number(timestamp), now, mailgunAgeSecondsMax);
  },
  read(payload) {
    const read = Event.safeParse(payload);
    if (!read.success) return [];
    const event = read.data["event-data"];
    const kind = kindOf(event.event, event.severity);
    if (!kind || !event.id) return [];
    const status = event["delivery-status"];
    const said = status?.message || status?.description || event.reject?.reason;
    const code = status?.code;
    const messageId = messageIdOf(event.message?.headers?.["message-id"]);
    const isReply = typeof code === "number" && code >= 200 && code < 600;
    return [
      {
        // The id is unique for a day.
        id: `${event.id} ${event.timestamp}`,
        kind,
        recipients: event.recipient ? [event.recipient] : [],
        // It keeps our Message-ID and knows the mail by that.
        providerId: messageId,
        messageId,
        reply:
          kind === "delivered"
            ? replyOf(isReply ? `${code} ${said ?? ""}` : null)
            : refusalOf(isReply ? `${code} ${said ?? ""}` : said, status?.["enhanced-code"]),
        host: hostOf(status?.["mx-host"]),
        isSure: true,
        at: timeOf(event.timestamp),
      },
    ];
  },
};

/** What a call may be used for once: its token. Null where it has none. */
export const tokenOf = (callback: Callback): string | null => signatureOf(callback)?.token ?? null;

function signatureOf({ bytes }: Callback) {
  try {
    const read = Signed.safeParse(JSON.parse(Buffer.from(bytes).toString()));
    return read.success ? read.data.signature : null;
  } catch {
    return null;
  }
}

function kindOf(event: string | null | undefined, severity: string | null | undefined): Told["kind"] | null {
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
