import { createHash } from "node:crypto";
import type { Reader } from "#server/platform/threads";
import { listHeaderSignatures } from "../dkim/verify";
import { cleanText } from "../outcome";
import { isAutoReply, saysAbsent } from "./auto-reply";
import { parseDsn, parseDsnText } from "./dsn";
import { type Feedback, isReturnedCopy, parseFeedback } from "./feedback";
import { type Field, findAddresses, findField, findFields, parseFields } from "./fields";
import { interpretReported } from "./judge";
import { decodeText, listParts, type Part, parseEmbedded, parseInnerFields, parseMessage } from "./mime";
import { createReasonFinder, isMachine, parseNotice } from "./notice/parse";
import { parseSesNotice, type SesNotice } from "./notice/ses";
import { readNotice } from "./notice/text";
import type { About, Report, Reported } from "./report";

const RETURNED_TYPE = /^(message\/(rfc822|global|global-headers)|text\/(rfc822|rfc822-headers?))$/;

/** Header fields in which servers record the address that received the message. */
const RECEIVED_BY_FIELDS = ["to", "delivered-to", "x-original-to", "envelope-to", "x-envelope-to"] as const;

/** The texts of a report are searched for many phrases, so less is short than for other readers. */
const shortBytes = 8 * 1024;

/** A message from a stranger, and whether its envelope has the null sender (RFC 5321 section 4.5.5). */
export type ReturnedMessage = { bytes: Uint8Array; hasNullSender: boolean };

/**
 * Classifies a message received at a return path: a delivery report (RFC 3464 or an older format), a
 * complaint (RFC 5965), an automatic reply (RFC 3834) or anything else. A message from the null sender to one
 * of our return paths is a report or an automatic reply. Null if the bytes are not a message. Never throws;
 * takes linear time.
 */
export function parseReport(bytes: Uint8Array, hasNullSender = false): Report | null {
  const message = parseMessage(bytes);
  if (message.fields.length === 0) return null;
  const returned = isReturnedCopy(message) ? message.fields : readReturnedFields([...listParts(message)]);
  const ses = parseSesNotice(message);
  const feedback = ses ? feedbackOf(ses) : parseFeedback(message, returned);
  if (feedback) {
    const { type: feedbackType, recipients, returnPaths } = feedback;
    const about = aboutOf(message, returned, returnPaths);
    const signatures = listHeaderSignatures(returned);
    return { kind: "complaint", id: idOf(message), about, feedbackType, recipients, signatures };
  }
  const isNull = hasNullSender || findField(message.fields, "return-path")?.replace(/\s/g, "") === "<>";
  // Check this before automatic replies: delivery reports may also have auto-reply headers.
  const reported = ses?.reported ?? readReported(message, isNull);
  const about = aboutOf(message, returned, []);
  const messageId = ses?.messageId ?? about.messageId;
  if (reported) return { kind: "delivery", id: idOf(message), about: { ...about, messageId }, reported };
  const { subject, lines } = readNotice(message);
  const isReply =
    isAutoReply(message.fields, subject) || saysAbsent(lines) || (isNull && !isReceipt(message));
  return isReply ? { kind: "auto-reply", about } : { kind: "other" };
}

export const PARSE_REPORT: Reader<ReturnedMessage, Report | null> = {
  name: "parseReport",
  read: ({ bytes, hasNullSender }) => parseReport(bytes, hasNullSender),
  isShort: ({ bytes }) => bytes.length <= shortBytes,
  bytesOf: ({ bytes }) => bytes,
};

/** A report on what a reader did (RFC 8098). */
const isReceipt = (message: Part): boolean =>
  [...listParts(message)].some(({ type }) => type.endsWith("/disposition-notification"));

function readReported(message: Part, hasNullSender: boolean): Reported[] | null {
  const parts = [...listParts(message)];
  const embedded = parts.find(({ type }) => RETURNED_TYPE.test(type));
  const isTrusted = hasNullSender || isMachine(message.fields);
  const own = parseDsn(message);
  // Gateways put the report of another server into theirs.
  const inner = embedded && isTrusted && own === null ? parseEmbedded(embedded) : null;
  const stated = own ?? (inner?.type === "multipart/report" ? parseDsn(inner) : null);
  const found = stated ?? (isTrusted ? parseDsnText(message) : null);
  const notice = readNotice(message);
  if (found?.some(({ recipients }) => recipients.length > 0)) {
    const findReasonOf = createReasonFinder(notice);
    return found.map((each) => withReason(each, findReasonOf));
  }
  const returned = readReturnedFields(parts);
  return parseNotice(message, notice, { returned, hasNullSender }) ?? found;
}

/** A report that gives no reason, or an unclear one, with the reason from the text for people. */
function withReason(reported: Reported, findReasonOf: ReturnType<typeof createReasonFinder>): Reported {
  const { action, reply, recipients } = reported;
  if (action !== "failed" && action !== "delayed") return reported;
  const isStated = reply.text !== "" || /\.[1-9]\d*$/.test(reply.enhanced ?? "");
  if (isStated && interpretReported(reported).class !== "other") return reported;
  const found = findReasonOf(recipients);
  const text = [reply.text, found.text].filter((each) => each !== "").join(" ");
  const isGeneral = reply.enhanced === null || reply.enhanced.endsWith(".0.0");
  const enhanced = isGeneral ? (found.enhanced ?? reply.enhanced) : reply.enhanced;
  const merged = { ...reported, reply: { code: reply.code ?? found.code, enhanced, text: cleanText(text) } };
  return reply.text === "" || interpretReported(merged).class !== "other" ? merged : reported;
}

const feedbackOf = ({ complaining: recipients }: SesNotice): Feedback | null =>
  recipients.length === 0 ? null : { type: "abuse", recipients, returnPaths: [] };

/** The header fields of the returned email. In a message without parts it follows the text of the report. */
function readReturnedFields(parts: readonly Part[]): Field[] {
  const returned = parts.find(({ type }) => RETURNED_TYPE.test(type));
  return returned ? parseInnerFields(returned) : readQuotedFields(parts);
}

const addressesIn = (fields: Field[], names: readonly string[]): string[] =>
  names.flatMap((name) => findFields(fields, name).flatMap((value) => findAddresses(value, 10)));

/** The addresses that received a message, by the first 64 KB of its header. */
export function findReceivers(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.subarray(0, 65_536)).toString("latin1").replace(/\r\n?/g, "\n");
  return addressesIn(parseFields(text.split("\n\n", 1)[0] ?? ""), RECEIVED_BY_FIELDS);
}

function aboutOf(message: Part, inner: Field[], named: readonly string[]): About {
  const links = findFields(inner, "list-unsubscribe").flatMap((value) =>
    [...value.matchAll(/<(https?:[^<>\s]{1,2000})>/g)].flatMap(([, link]) => link ?? []),
  );
  return {
    returnPaths: [
      ...new Set([
        ...addressesIn(message.fields, RECEIVED_BY_FIELDS),
        ...named,
        ...addressesIn(inner, ["return-path"]),
      ]),
    ],
    feedbackId: findField(inner, "feedback-id"),
    unsubscribeLinks: links,
    messageId: readMessageId(findField(inner, "message-id")),
  };
}

/** The header fields of an email that is quoted in plain text, from the first typical header line on. */
function readQuotedFields(parts: readonly Part[]): Field[] {
  for (const part of parts.filter(({ type, parts: inner }) => type === "text/plain" && inner.length === 0)) {
    const text = decodeText(part);
    const at = text.search(/^[> ]{0,4}(?:Return-Path|Received|Message-ID|DKIM-Signature|From): ?\S/im);
    if (at === -1) continue;
    const header = text.slice(at).replace(/^> ?/gm, "").split("\n\n", 1)[0] ?? "";
    const fields = parseFields(header);
    if (findField(fields, "message-id") !== null || findField(fields, "to") !== null) return fields;
  }
  return [];
}

const readMessageId = (value: string | null): string | null =>
  /<?([^\s<>]{1,300}@[^\s<>]{1,255})>?/.exec(value?.slice(0, 1_000) ?? "")?.[1] ?? null;

/**
 * A hash of the Message-ID, or of the text if there is none. Excludes header lines that servers add in
 * transit.
 */
function idOf({ fields, content }: Part): string {
  const own = findField(fields, "message-id") ?? content.slice(0, 65_536);
  return createHash("sha256").update(own).digest("hex").slice(0, 32);
}
