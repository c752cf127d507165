import { createHash } from "node:crypto";
import { readDsn } from "./dsn";
import { readFeedback } from "./feedback";
import { addressesIn, type Field, fieldOf, fieldsOf } from "./fields";
import { allParts, innerFields, type Part, readMessage } from "./mime";
import { readPlainBounce } from "./plain";
import type { About, Report } from "./report";

const RETURNED_TYPES: ReadonlySet<string> = new Set([
  "message/rfc822",
  "text/rfc822-headers",
  "text/rfc822",
  "message/global",
  "message/global-headers",
]);

/** Where servers write down the address that a message came to. */
const CAME_TO = ["to", "delivered-to", "x-original-to", "envelope-to", "x-envelope-to"] as const;

const PRECEDENCE: ReadonlySet<string> = new Set(["auto_reply", "bulk", "junk", "list"]);
const ANSWERED_BY_MACHINE = [
  "x-autoreply",
  "x-autorespond",
  "x-autoresponder",
  "x-autoreply-from",
  "x-mail-autoreply",
  "x-auto-response-suppress",
] as const;

/**
 * Says what a message is that came to a return path: a report on deliveries, by RFC 3464 or in one of the forms before it, a
 * complaint (RFC 5965), an automatic reply (RFC 3834), or nothing of the kind. Null where the bytes are no message at all.
 * Never throws, and takes time that grows with the length alone.
 */
export function readReport(bytes: Uint8Array): Report | null {
  const message = readMessage(bytes);
  if (message.fields.length === 0) return null;
  const feedback = readFeedback(message);
  if (feedback) {
    const { type: feedbackType, recipients, returnPaths } = feedback;
    const about = aboutOf(message, returnPaths);
    return { kind: "complaint", id: idOf(message), about, feedbackType, recipients };
  }
  // Reports are automatic answers themselves, and some of them say so.
  const reported = readDsn(message) ?? readPlainBounce(message);
  if (reported) return { kind: "delivery", id: idOf(message), about: aboutOf(message, []), reported };
  return isAutoReply(message.fields) ? { kind: "auto-reply" } : { kind: "other" };
}

function isAutoReply(fields: Field[]): boolean {
  const submitted = fieldOf(fields, "auto-submitted")?.toLowerCase();
  if (submitted !== undefined && !submitted.startsWith("no")) return true;
  if (PRECEDENCE.has(fieldOf(fields, "precedence")?.toLowerCase() ?? "")) return true;
  return ANSWERED_BY_MACHINE.some((name) => fieldOf(fields, name) !== null);
}

function aboutOf(message: Part, named: readonly string[]): About {
  const parts = [...allParts(message)];
  const returned = parts.find(({ type }) => RETURNED_TYPES.has(type));
  // Without parts the returned mail stands below the words of the report.
  const inner = returned ? innerFields(returned) : quotedFields(parts);
  const addresses = (fields: Field[], names: readonly string[]) =>
    names.flatMap((name) => fieldsOf(fields, name).flatMap((value) => addressesIn(value, 10)));
  const links = fieldsOf(inner, "list-unsubscribe").flatMap((value) =>
    [...value.matchAll(/<(https?:[^<>\s]{1,2000})>/g)].flatMap(([, link]) => link ?? []),
  );
  return {
    returnPaths: [
      ...new Set([...addresses(message.fields, CAME_TO), ...named, ...addresses(inner, ["return-path"])]),
    ],
    unsubscribeLinks: links,
    messageId: readMessageId(fieldOf(inner, "message-id")),
  };
}

/** The header of the mail that is quoted in a letter: from the first of the lines that each mail has. */
function quotedFields(parts: readonly Part[]): Field[] {
  for (const part of parts.filter(({ type, parts: inner }) => type === "text/plain" && inner.length === 0)) {
    const at = part.content.search(/^(?:Return-Path|Received|Message-ID|DKIM-Signature|From):/im);
    if (at === -1) continue;
    const fields = innerFields({ ...part, content: part.content.slice(at) });
    if (fieldOf(fields, "message-id") !== null) return fields;
  }
  return [];
}

const readMessageId = (value: string | null): string | null =>
  /<?([^\s<>]{1,300}@[^\s<>]{1,255})>?/.exec(value?.slice(0, 1_000) ?? "")?.[1] ?? null;

/** Of the message's own id, or of its text where it has none; not of the lines that each server adds on the way. */
function idOf({ fields, content }: Part): string {
  const own = fieldOf(fields, "message-id") ?? content.slice(0, 65_536);
  return createHash("sha256").update(own).digest("hex").slice(0, 32);
}
