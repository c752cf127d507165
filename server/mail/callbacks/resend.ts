import { createHmac } from "node:crypto";
import { z } from "zod";
import type { Reply } from "../outcome";
import { type Callback, isEqual, judgeAge, type ProviderEvent, type Scheme } from "./callback";
import {
  ENHANCED_CODE_BY_SUBTYPE,
  OptionalText,
  optionalFields,
  parseId,
  parseMessageId,
  parseRejection,
  parseReply,
  parseTime,
  replyFromText,
  TextList,
  verdictOf,
  withEnhancedCode,
  withoutName,
} from "./provider-fields";

/** Short, because Resend signs each retry again (Standard Webhooks). */
const ageSecondsMax = 300;

const Event = z.object({
  type: OptionalText,
  created_at: OptionalText,
  data: z.object({
    email_id: OptionalText,
    message_id: OptionalText,
    to: TextList,
    bounce: optionalFields({
      type: OptionalText,
      subType: OptionalText,
      message: OptionalText,
      diagnosticCode: TextList,
    }),
    failed: optionalFields({ reason: OptionalText }),
    suppressed: optionalFields({ message: OptionalText }),
  }),
});

const KINDS = new Map<string, ProviderEvent["kind"]>([
  ["email.delivered", "delivered"],
  ["email.delivery_delayed", "delayed"],
  ["email.bounced", "bounced"],
  // An invalid request, a domain that is not verified, or a quota ("Event types").
  ["email.failed", "failed"],
  ["email.suppressed", "bounced"],
  ["email.complained", "complained"],
]);

/**
 * Resend uses Svix signatures: Standard Webhooks with different header names, HMAC-SHA-256 over id, timestamp
 * and bytes ("Verify Webhooks Requests" in its documentation). During a secret rotation a callback has
 * several signatures.
 */
export const resend: Scheme = {
  verify(callback, secret, now) {
    const key = parseSigningSecret(secret);
    const id = readCallbackId(callback) ?? "";
    const timestamp = readSignatureHeader(callback, "timestamp") ?? "";
    if (!key || id === "" || !/^\d{1,12}$/.test(timestamp)) return "forged";
    const expected = createHmac("sha256", key)
      .update(`${id}.${timestamp}.`)
      .update(callback.bytes)
      .digest("base64");
    const signatures = (readSignatureHeader(callback, "signature") ?? "").split(" ", 20);
    if (!signatures.some((signature) => isEqual(signature, `v1,${expected}`))) return "forged";
    return judgeAge(Number(timestamp), now, ageSecondsMax);
  },
  read(payload, callback) {
    const read = Event.safeParse(payload);
    const id = readCallbackId(callback);
    if (!read.success || !id) return [];
    const { type, created_at, data } = read.data;
    const kind = KINDS.get(type ?? "");
    if (!kind) return [];
    return [
      {
        id,
        kind,
        ...(kind === "bounced" && { verdict: judgeAddress(type, data.bounce) }),
        recipients: data.to.map(withoutName),
        providerId: parseId(data.email_id),
        messageId: parseMessageId(data.message_id),
        reply: kind === "delivered" ? parseReply(null) : readRejection(data),
        host: null,
        appliesToAllRecipients: data.to.length === 1,
        at: parseTime(created_at),
      },
    ];
  },
};

type Bounce = z.infer<typeof Event>["data"]["bounce"];

/** Older events have only the message. */
function judgeAddress(type: string | null | undefined, { type: bounceType, subType, message }: Bounce) {
  if (type === "email.suppressed" || /\bsuppression list\b/i.test(message ?? "")) return "listed";
  const isHard = !bounceType && /\bhard bounce message\b/i.test(message ?? "");
  return isHard ? "hard" : verdictOf(bounceType, subType);
}

function readRejection({ bounce, failed, suppressed }: z.infer<typeof Event>["data"]): Reply {
  const [diagnostic] = bounce.diagnosticCode;
  const isBounce = Boolean(bounce.subType || bounce.message || diagnostic);
  if (!isBounce || verdictOf(null, bounce.subType))
    return replyFromText(bounce.message || failed.reason || suppressed.message);
  const code = ENHANCED_CODE_BY_SUBTYPE.get(bounce.subType ?? "");
  // The sentences after the first are advice, and would be read as the cause.
  const [said] = bounce.message?.split(/(?<=\.) /, 1) ?? [];
  return withEnhancedCode(parseRejection(diagnostic || said, null), code);
}

const readCallbackId = (callback: Callback): string | null =>
  readSignatureHeader(callback, "id")?.slice(0, 300) ?? null;

const readSignatureHeader = ({ header }: Callback, name: string): string | null =>
  header(`svix-${name}`) ?? header(`webhook-${name}`);

/** Decodes a signing secret: `whsec_` and Base64. Null if it is invalid or shorter than 16 bytes. */
export function parseSigningSecret(secret: string): Buffer | null {
  const [, base64] = /^whsec_([\w+/=]{20,200})$/.exec(secret.trim()) ?? [];
  const key = base64 === undefined ? null : Buffer.from(base64, "base64");
  return key && key.length >= 16 ? key : null;
}
