import { z } from "zod";
import { parseDiagnostic } from "../bounce/diagnostic";
import { splitType } from "../bounce/fields";
import { cleanText, parseSmtpReply, type Reply } from "../outcome";
import type { Callback } from "./callback";

/**
 * An optional text field. Any other type counts as absent, because the providers' documentation is imprecise.
 */
export const OptionalText = z.string().max(20_000).nullish().catch(null);

export const OptionalNumber = z.number().nullish().catch(null);

/** An object of optional fields. Any other value counts as an object without fields. */
export function optionalFields<Shape extends z.ZodRawShape>(shape: Shape) {
  const object = z.object(shape);
  return object.catch(() => object.parse({}));
}

/** Parses the JSON of a callback; null if it is invalid. */
export function readJson<T>(schema: z.ZodType<T>, { bytes }: Callback): T | null {
  try {
    return schema.safeParse(JSON.parse(Buffer.from(bytes).toString())).data ?? null;
  } catch {
    return null;
  }
}

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
 * With these subtypes no server was contacted: the address is on the provider's suppression list, with no
 * reason given.
 */
export const SUPPRESSED_SUBTYPES: ReadonlySet<string> = new Set(["Suppressed", "OnAccountSuppressionList"]);

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

/** Parses a provider's id: printable ASCII without spaces; null for anything else. */
export const parseId = (text: string | null | undefined): string | null =>
  /^[\x21-\x7e]{1,300}$/.exec(text ?? "")?.[0] ?? null;

/** Parses a Message-ID and removes its angle brackets; null if it is invalid. */
export const parseMessageId = (text: string | null | undefined): string | null =>
  /^<?([\x21-\x3b\x3d\x3f\x41-\x7e]{1,250}@[\x21-\x3b\x3d\x3f\x41-\x7e]{1,250})>?$/.exec(
    text?.trim() ?? "",
  )?.[1] ?? null;

/** Parses a time in ISO 8601 or in seconds since 1970; null for anything else. */
export function parseTime(value: unknown): Date | null {
  const at =
    typeof value === "number" ? new Date(value * 1_000) : typeof value === "string" ? new Date(value) : null;
  return at && Number.isFinite(at.getTime()) ? at : null;
}
