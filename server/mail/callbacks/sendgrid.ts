import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { z } from "zod";
import { judgeAge } from "./age";
import type { Scheme, Told } from "./callback";
import { idOf, messageIdOf, refusalOf, replyOf, Said, timeOf, wordsOf } from "./said";

/** SendGrid repeats a call for a day. */
const ageSecondsMax = 86_400;

const Event = z.object({
  event: Said,
  email: Said,
  sg_event_id: Said,
  sg_message_id: Said,
  "smtp-id": Said,
  timestamp: z.number().nullish().catch(null),
  reason: Said,
  response: Said,
  status: Said,
});

const KINDS: Readonly<Record<string, Told["kind"]>> = {
  delivered: "delivered",
  deferred: "delayed",
  bounce: "bounced",
  dropped: "bounced",
  spamreport: "complained",
};

/**
 * SendGrid signs the time and the bytes of a call with ECDSA on P-256 and SHA-256 ("Getting Started with the Event Webhook
 * Security Features"). The secret is the verification key that it shows: DER in Base64, which proves and keeps nothing secret.
 */
export const sendgrid: Scheme = {
  verify({ header, bytes }, secret, now) {
    const key = readVerificationKey(secret);
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

function readEvent(given: unknown): Told[] {
  const read = Event.safeParse(given);
  if (!read.success) return [];
  const {
    event,
    email,
    sg_event_id: id,
    sg_message_id: inner,
    status,
    reason,
    response,
    ...rest
  } = read.data;
  const kind = Object.hasOwn(KINDS, event ?? "") ? KINDS[event ?? ""] : undefined;
  if (!kind || !id) return [];
  return [
    {
      id,
      kind,
      recipients: email ? [email] : [],
      providerId: idOf(outerId(inner ?? "")),
      messageId: messageIdOf(rest["smtp-id"]),
      reply:
        kind === "delivered"
          ? replyOf(response)
          : event === "dropped"
            ? wordsOf(reason)
            : refusalOf(response || reason, status),
      host: null,
      isSure: true,
      at: timeOf(rest.timestamp),
    },
  ];
}

/** What its SMTP reply named is the beginning of the id in its events; behind it stand its own machines. */
const outerId = (inner: string): string => inner.split(/\.(?:filter|recv)/, 1)[0] ?? inner;

/** The key that SendGrid shows, with or without the lines of PEM; null where it is none on P-256. */
export function readVerificationKey(text: string): KeyObject | null {
  try {
    const der = Buffer.from(text.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : null;
  } catch {
    return null;
  }
}
