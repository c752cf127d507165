import { z } from "zod";
import { parseJson } from "#server/shared/text/parse-json";
import { parseDiagnostic } from "../bounce/diagnostic";
import { splitType } from "../bounce/fields";
import { cleanText, parseSmtpReply, type Reply } from "../outcome";
import type { AddressVerdict, Callback } from "./callback";

/**
 * An optional text field. Any other type counts as absent, because the providers' documentation is imprecise.
 */
export const OptionalText = z.string().max(20_000).nullish().catch(null);

/** An object of optional fields. Any other value counts as an object without fields. */
export function optionalFields<Shape extends z.ZodRawShape>(shape: Shape) {
  const object = z.object(shape);
  return object.catch(() => object.parse({}));
}

/** Parses the JSON of a callback; null if it is invalid. */
export const readJson = <T>(schema: z.ZodType<T>, { bytes }: Callback): T | null =>
  schema.safeParse(parseJson(Buffer.from(bytes).toString())).data ?? null;

/** An optional list of texts. */
export const TextList = z.array(z.string().max(20_000)).max(1_000).catch([]);

/**
 * Enhanced code (RFC 3463) for each bounce subtype of SES that names a specific cause. Resend uses the same
 * subtypes. Other subtypes, such as `General`, do not name a cause.
 */
export const ENHANCED_CODE_BY_SUBTYPE = new Map([
  ["NoEmail", "5.1.1"],
  ["MailboxFull", "5.2.2"],
  ["MessageTooLarge", "5.2.3"],
]);

/**
 * With these subtypes no server was contacted: the address is on the provider's suppression list, or
 * unsubscribed from the contact list.
 */
const LISTED_SUBTYPES = new Map<string, AddressVerdict>([
  ["Suppressed", "listed"],
  ["OnAccountSuppressionList", "listed"],
  ["UnsubscribedRecipient", "listed_unsubscribe"],
]);

/** What SES and Resend say about an address by the type and the subtype of a bounce. */
export const verdictOf = (
  type: string | null | undefined,
  subtype: string | null | undefined,
): AddressVerdict | undefined =>
  LISTED_SUBTYPES.get(subtype ?? "") ??
  (type === "Permanent" && (subtype === "General" || subtype === "NoEmail") ? "hard" : undefined);

const NOTHING: Reply = { code: null, enhanced: null, text: "" };

/**
 * Parses the reply of a rejection, also in the form `smtp; 550 5.1.1 …`. `status` is the separately reported
 * enhanced code.
 */
export function parseRejection(text: string | null | undefined, status: string | null | undefined): Reply {
  const typed = splitType(text ?? "");
  return parseDiagnostic(typed.type === "smtp" ? typed.value : (text ?? ""), status ?? null);
}

/** Parses the reply of an accepted delivery. */
export const parseReply = (text: string | null | undefined): Reply => (text ? parseSmtpReply(text) : NOTHING);

/** A rejection by the provider itself: it has no SMTP reply. */
export const replyFromText = (text: string | null | undefined): Reply => ({
  ...NOTHING,
  text: cleanText(text ?? ""),
});

/** Adds the enhanced code of the provider's bounce type if the reply has none. */
export const withEnhancedCode = (reply: Reply, enhanced: string | undefined): Reply =>
  reply.enhanced === null && enhanced !== undefined ? { ...reply, enhanced } : reply;

/** Parses a host name or IP address, also in the form `dns; mx.example.com`; null for anything else. */
export const parseHost = (text: string | null | undefined): string | null => {
  const typed = splitType(text ?? "");
  return /^[\w.:-]{1,255}$/.exec(typed.type === "dns" ? typed.value : (text ?? ""))?.[0] ?? null;
};

/** Turns `Ben <ben@example.com>` into `ben@example.com`. */
export const withoutName = (mailbox: string): string => /<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox;

/** Parses a provider's id: printable ASCII without spaces; null for anything else. */
export const parseId = (text: string | null | undefined): string | null =>
  /^[\x21-\x7e]{1,300}$/.exec(text ?? "")?.[0] ?? null;

/** Parses a Message-ID and removes its angle brackets; null if it is invalid. */
export const parseMessageId = (text: string | null | undefined): string | null =>
  /^<?([\x21-\x3b\x3d\x3f\x41-\x7e]{1,250}@[\x21-\x3b\x3d\x3f\x41-\x7e]{1,250})>?$/.exec(
    text?.trim() ?? "",
  )?.[1] ?? null;

/** Larger numbers are milliseconds: as seconds they are after the year 5000. */
const secondsMax = 1e11;

/** Parses a time in ISO 8601, or in seconds or milliseconds since 1970; null for anything else. */
export function parseTime(value: unknown): Date | null {
  const number = typeof value === "string" && /^\d{1,13}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
  const at =
    typeof number === "number"
      ? new Date(number > secondsMax ? number : number * 1_000)
      : typeof number === "string"
        ? new Date(number)
        : null;
  return at && Number.isFinite(at.getTime()) ? at : null;
}
