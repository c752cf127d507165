import { createHmac } from "node:crypto";
import { z } from "zod";
import { judgeAge } from "./age";
import { CODE_OF_SUBTYPE, LISTED_SUBTYPES } from "./bounce-words";
import type { Callback, Scheme, Told } from "./callback";
import { AllSaid, idOf, messageIdOf, refusalOf, replyOf, Said, timeOf, withCode, wordsOf } from "./said";
import { isSame } from "./same";

/** Each attempt is signed anew (Standard Webhooks). */
const ageSecondsMax = 300;

const Event = z.object({
  type: Said,
  created_at: Said,
  data: z.object({
    email_id: Said,
    message_id: Said,
    to: AllSaid,
    bounce: z
      .object({ type: Said, subType: Said, message: Said, diagnosticCode: AllSaid })
      .nullish()
      .catch(null),
    failed: z.object({ reason: Said }).nullish().catch(null),
    suppressed: z.object({ message: Said }).nullish().catch(null),
  }),
});

const KINDS: Readonly<Record<string, Told["kind"]>> = {
  "email.delivered": "delivered",
  "email.delivery_delayed": "delayed",
  "email.bounced": "bounced",
  "email.failed": "bounced",
  "email.suppressed": "bounced",
  "email.complained": "complained",
};

/**
 * Resend signs as Svix does, which is Standard Webhooks by other names of the headers: HMAC-SHA-256 over id, time and bytes
 * ("Verify Webhooks Requests" of its documentation). While a secret is exchanged there are several signatures.
 */
export const resend: Scheme = {
  verify(callback, secret, now) {
    const key = readSigningSecret(secret);
    const id = callOf(callback) ?? "";
    const timestamp = signedHeader(callback, "timestamp") ?? "";
    if (!key || id === "" || !/^\d{1,12}$/.test(timestamp)) return "forged";
    const expected = createHmac("sha256", key)
      .update(`${id}.${timestamp}.`)
      .update(callback.bytes)
      .digest("base64");
    const given = (signedHeader(callback, "signature") ?? "").split(" ", 20);
    if (!given.some((one) => isSame(one, `v1,${expected}`))) return "forged";
    return judgeAge(Number(timestamp), now, ageSecondsMax);
  },
  read(payload, callback) {
    const read = Event.safeParse(payload);
    const id = callOf(callback);
    if (!read.success || !id) return [];
    const { type, created_at, data } = read.data;
    const kind = Object.hasOwn(KINDS, type ?? "") ? KINDS[type ?? ""] : undefined;
    if (!kind) return [];
    return [
      {
        id,
        kind,
        recipients: data.to.map(withoutName),
        providerId: idOf(data.email_id),
        messageId: messageIdOf(data.message_id),
        reply: kind === "delivered" ? replyOf(null) : refusalIn(data),
        host: null,
        isSure: data.to.length === 1,
        at: timeOf(created_at),
      },
    ];
  },
};

function refusalIn({ bounce, failed, suppressed }: z.infer<typeof Event>["data"]): Told["reply"] {
  if (!bounce || LISTED_SUBTYPES.has(bounce.subType ?? ""))
    return wordsOf(bounce?.message || failed?.reason || suppressed?.message);
  const code = Object.hasOwn(CODE_OF_SUBTYPE, bounce.subType ?? "")
    ? CODE_OF_SUBTYPE[bounce.subType ?? ""]
    : undefined;
  const [said] = bounce.diagnosticCode;
  return withCode(refusalOf(said || bounce.message, null), code);
}

/** `Ben <ben@example.com>` is `ben@example.com`. */
const withoutName = (mailbox: string): string => /<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox;

const callOf = (callback: Callback): string | null => signedHeader(callback, "id")?.slice(0, 300) ?? null;

const signedHeader = ({ header }: Callback, name: string): string | null =>
  header(`svix-${name}`) ?? header(`webhook-${name}`);

/** The key in `whsec_` and Base64; null where it is none, or shorter than anybody makes one. */
export function readSigningSecret(secret: string): Buffer | null {
  const [, base64] = /^whsec_([\w+/=]{20,200})$/.exec(secret.trim()) ?? [];
  const key = base64 === undefined ? null : Buffer.from(base64, "base64");
  return key && key.length >= 16 ? key : null;
}
