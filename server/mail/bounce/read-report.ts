import { createHash } from "node:crypto";
import { areShort, type Reader } from "#server/platform/threads";
import { parseDsn } from "./dsn";
import { parseFeedback } from "./feedback";
import { type Field, findAddresses, findField, findFields } from "./fields";
import { listParts, type Part, parseInnerFields, parseMessage } from "./mime";
import { parsePlainBounce } from "./plain";
import type { About, Report } from "./report";

const RETURNED_TYPE = /^(message\/(rfc822|global|global-headers)|text\/(rfc822|rfc822-headers))$/;

/** Header fields in which servers record the address that received the message. */
const RECEIVED_BY_FIELDS = ["to", "delivered-to", "x-original-to", "envelope-to", "x-envelope-to"] as const;

const PRECEDENCE = /^(auto_reply|bulk|junk|list)$/i;
const AUTO_REPLY_FIELD =
  /^x-(autoreply|autorespond|autoresponder|autoreply-from|mail-autoreply|auto-response-suppress)$/;

/**
 * Classifies a message received at a return path: a delivery report (RFC 3464 or an older format), a
 * complaint (RFC 5965), an automatic reply (RFC 3834) or anything else. Null if the bytes are not a message.
 * Never throws; takes linear time.
 */
export function parseReport(bytes: Uint8Array): Report | null {
  const message = parseMessage(bytes);
  if (message.fields.length === 0) return null;
  const feedback = parseFeedback(message);
  if (feedback) {
    const { type: feedbackType, recipients, returnPaths } = feedback;
    const about = aboutOf(message, returnPaths);
    return { kind: "complaint", id: idOf(message), about, feedbackType, recipients };
  }
  // Check this before automatic replies: delivery reports may also have auto-reply headers.
  const reported = parseDsn(message) ?? parsePlainBounce(message);
  if (reported) return { kind: "delivery", id: idOf(message), about: aboutOf(message, []), reported };
  return isAutoReply(message.fields) ? { kind: "auto-reply" } : { kind: "other" };
}

export const PARSE_REPORT: Reader<Uint8Array, Report | null> = {
  name: "parseReport",
  read: parseReport,
  isShort: areShort,
  bytesOf: (bytes) => bytes,
};

function isAutoReply(fields: Field[]): boolean {
  const submitted = findField(fields, "auto-submitted")?.toLowerCase();
  if (submitted !== undefined && !submitted.startsWith("no")) return true;
  if (PRECEDENCE.test(findField(fields, "precedence") ?? "")) return true;
  return fields.some(({ name }) => AUTO_REPLY_FIELD.test(name));
}

function aboutOf(message: Part, named: readonly string[]): About {
  const parts = [...listParts(message)];
  const returned = parts.find(({ type }) => RETURNED_TYPE.test(type));
  // In a message without parts the returned email follows the text of the report.
  const inner = returned ? parseInnerFields(returned) : readQuotedFields(parts);
  const addresses = (fields: Field[], names: readonly string[]) =>
    names.flatMap((name) => findFields(fields, name).flatMap((value) => findAddresses(value, 10)));
  const links = findFields(inner, "list-unsubscribe").flatMap((value) =>
    [...value.matchAll(/<(https?:[^<>\s]{1,2000})>/g)].flatMap(([, link]) => link ?? []),
  );
  return {
    returnPaths: [
      ...new Set([
        ...addresses(message.fields, RECEIVED_BY_FIELDS),
        ...named,
        ...addresses(inner, ["return-path"]),
      ]),
    ],
    unsubscribeLinks: links,
    messageId: readMessageId(findField(inner, "message-id")),
  };
}

/** The header fields of an email that is quoted in plain text, from the first typical header line on. */
function readQuotedFields(parts: readonly Part[]): Field[] {
  for (const part of parts.filter(({ type, parts: inner }) => type === "text/plain" && inner.length === 0)) {
    const at = part.content.search(/^(?:Return-Path|Received|Message-ID|DKIM-Signature|From):/im);
    if (at === -1) continue;
    const fields = parseInnerFields({ ...part, content: part.content.slice(at) });
    if (findField(fields, "message-id") !== null) return fields;
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
