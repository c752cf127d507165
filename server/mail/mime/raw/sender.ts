import libmime from "libmime";
import { MAILBOX_LIMITS, type ParsedMailbox, parseLongMailbox, parseMailbox } from "../../address/address";
import { parseValue, type RawField } from "./fields";

const refuse = (fault: string): ParsedMailbox => ({ ok: false, fault });

const INNER_ADDRESS =
  "angle brackets stand inside a comment or a quoted name, where other programs could find another sender. Remove them.";
const INNER_COMMENT = "a comment stands inside the address. Remove it.";

/**
 * The sender of a message: the only mailbox of its only From field, with the name decoded (RFC 2047). A field
 * that programs could interpret differently is rejected, because it decides which domain sends the message.
 */
export function parseFrom(fields: readonly RawField[]): ParsedMailbox {
  const [from, ...others] = fields.filter(({ name }) => name === "from");
  if (!from) return refuse("The message has no From header. Set it to the sender.");
  if (others.length > 0) return refuse("The message has more than one From header. Send it once.");
  const read = parseSender(parseValue(from));
  return read.ok ? read : refuse(`The From header: ${read.fault}`);
}

/**
 * The mailbox of a From or Sender field, with the name decoded. Comments beside the address are allowed (RFC
 * 5322 section 3.2.2); the first one is the name of a mailbox without one: `ann@example.com (Ann)`.
 */
export function parseSender(value: string): ParsedMailbox {
  // A folded field may continue with a tab.
  const given = value.replaceAll("\t", " ");
  // Reports the length.
  if (given.length > MAILBOX_LIMITS.chars) return parseMailbox(given);
  const split = splitComments(given);
  if (typeof split === "string") return refuse(split);
  const text = split.text.trim();
  const open = text.endsWith(">") ? text.lastIndexOf("<") : -1;
  const read = parseMailbox(
    open === -1 ? text : `${text.slice(0, open)}<${text.slice(open + 1, -1).trim()}>`,
  );
  if (!read.ok) return read;
  return { ok: true, mailbox: { ...read.mailbox, name: decodeName(read.mailbox.name ?? split.comment) } };
}

/** The text without its comments, and the first comment; or a fault. */
function splitComments(value: string): { text: string; comment: string } | string {
  const comments: string[] = [];
  let text = "";
  let isQuoted = false;
  let depth = 0;
  for (let at = 0; at < value.length; at += 1) {
    let char = value[at] ?? "";
    if (char === "\\" && (isQuoted || depth > 0)) char += value[++at] ?? "";
    const isInner = isQuoted || depth > 0;
    if (isInner && /[<>]/.test(char)) return INNER_ADDRESS;
    if (depth === 0 && char === '"') isQuoted = !isQuoted;
    if (!isQuoted && char === "(") {
      if (depth === 0 && !/(^|[ >])$/.test(text)) return INNER_COMMENT;
      depth += 1;
      if (depth === 1) {
        comments.push("");
        continue;
      }
    }
    if (depth > 0 && char === ")") {
      depth -= 1;
      if (depth === 0 && !/^($|[ <(])/.test(value.slice(at + 1, at + 2))) return INNER_COMMENT;
      if (depth === 0) continue;
    }
    if (depth === 0) text += char;
    else comments.push((comments.pop() ?? "") + char.slice(-1));
  }
  // The parser explains brackets and quotes that are not closed.
  return depth > 0 ? "a comment is not closed. Remove it." : { text, comment: comments[0] ?? "" };
}

/**
 * The mailbox of an address in a list, with its decoded name; null if it is not one that Backstamp supports.
 */
export function parseListed(address: string, name: string) {
  const read = parseLongMailbox(address);
  return read.ok ? { ...read.mailbox, name: decodeName(name) } : null;
}

/**
 * A display name without control characters, which could change how it is displayed, and without halves of
 * characters, which PostgreSQL cannot store; null for none.
 */
function decodeName(name: string): string | null {
  const decoded = libmime
    .decodeWords(name)
    .slice(0, 300)
    .replace(/[\p{Cc}\p{Cs}]+/gu, " ")
    .trim();
  return decoded === "" ? null : decoded;
}
